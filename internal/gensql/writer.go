package gensql

import (
	"fmt"
	"strings"
)

// writer collects the lines of a file.
type writer struct{ b strings.Builder }

// line writes one line at the given depth of two blanks.
func (w *writer) line(depth int, format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", depth))
	if len(args) == 0 {
		w.b.WriteString(format)
	} else {
		fmt.Fprintf(&w.b, format, args...)
	}
	w.b.WriteByte('\n')
}

// ctes writes WITH and its parts, each a name and the lines of its body.
func (w *writer) ctes(parts []cte) {
	for i, p := range parts {
		open := ", "
		if i == 0 {
			open = "WITH "
		}
		w.line(0, "%s%s AS %s(", open, p.name, p.how)
		for _, l := range p.body {
			w.line(1, "%s", l)
		}
		if i == len(parts)-1 {
			w.line(0, ")")
		} else {
			w.b.WriteString(")")
		}
	}
}

// cte is one part of WITH.
type cte struct {
	name, how string // how: "MATERIALIZED " or nothing
	body      []string
}

// comment writes lead and text as one comment line. The lead keeps a text from
// being what a program looks for at the start of a comment: a query's name for
// sqlc, or, since comments come along into Go, a build constraint. goose looks for
// its commands everywhere in a comment, a path too may hold one.
func (w *writer) comment(lead, text string) {
	if words := strings.Fields(text); len(words) > 0 {
		w.line(0, "-- %s: %s", lead, strings.ReplaceAll(strings.Join(words, " "), "+goose", "+ goose"))
	}
}

// legend writes one comment line each, whatever the texts hold.
func (w *writer) legend(lines []string) {
	for _, l := range lines {
		w.line(0, "--   %s", strings.Join(strings.Fields(l), " "))
	}
}
