package gendocs

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// slug makes a fragment or file name of any text. Letters, digits, -, _ and /
// stand for themselves and everything else for its code, so that no two texts
// have the same slug.
func slug(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '-' || r == '_' || r == '/', '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, ".%x.", r)
		}
	}
	return b.String()
}

func stateID(s *model.State) string { return "state-" + slug(s.Name) }
func eventID(e *model.Event) string { return "event-" + slug(e.Name) }

// guardID is of the name, or of the place where a guard without one is written.
func guardID(g *model.Guard) string {
	if g.Name == "" {
		return fmt.Sprintf("guard-at.%d.%d", g.Pos.Line, g.Pos.Col)
	}
	return "guard-" + slug(g.Name)
}

// guardName is a guard in few words, for a place that leads to more.
func guardName(g *model.Guard) string {
	if g.Name != "" {
		return g.Name
	}
	return wording.Guard(g)
}

// suiteFile is the name of a suite's page: "all-cells.html", "n-switch-2.html".
func suiteFile(s *suite.Suite) string { return strings.ReplaceAll(s.Name, "=", "-") + ".html" }

// labelled is a state or an event.
type labelled interface{ Label(lang string) string }

// labelOf is the label in the language, empty where it says no more than the
// name.
func labelOf(of labelled, lang string) string {
	label := of.Label(lang)
	switch named := of.(type) {
	case *model.State:
		return unless(label, named.Name)
	case *model.Event:
		return unless(label, named.Name)
	}
	return label
}

func unless(label, name string) string {
	if label == name {
		return ""
	}
	return label
}

func durationIn(lang string) func(time.Duration) string {
	return func(d time.Duration) string { return wording.Duration(d, lang) }
}

// svg lets a rendered picture or table into a page as it is: its renderer has
// escaped what came from a definition.
func svg(rendered string) template.HTML { return template.HTML(rendered) }
