package studio

import (
	"cmp"
	"errors"
	"html/template"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/compare"
	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/revision"
	"github.com/pawl-go/pawl/internal/wording"
)

// diffPart shows what changed since a revision of the repository around the project.
func diffPart(s *Studio) (part, error) {
	return part{entry: "diff", routes: []route{{"/m/{machine}/diff", s.diff}}}, nil
}

// newest is the revision that is compared with when the address names none.
const newest = "HEAD"

// commits are those that are offered, and longestRevision what a name of one has at most.
const (
	commits         = 15
	longestRevision = 200
)

// diffPage is what the page shows.
type diffPage struct {
	*machine
	Since string
	// Failed says why nothing was compared.
	Failed string
	// New says that the revision has no such machine.
	New bool
	// Count is the number of Changes, and Others are other machines with changes.
	Count   int
	Changes any
	Others  []menuEntry
	// Gone are the machines that are no more.
	Gone    []string
	Picture template.HTML
	Bare    bool
	Signs   []sign
	Commits []commit
}

// sign is a line of the legend.
type sign struct{ Class, Text string }

// commit is one that can be compared with.
type commit struct {
	Href, Name, Subject, Day string
	Tags                     []string
	Current                  bool
}

func (s *Studio) diff(v *visit) error {
	m, err := v.machine()
	if err != nil {
		return err
	}
	data := diffPage{machine: m, Since: cmp.Or(strings.TrimSpace(v.URL.Query().Get("since")), newest)}
	if err := v.addCommits(&data); err != nil {
		return err
	}
	if m.Model != nil {
		if err := v.compared(&data); err != nil {
			return err
		}
	}
	return v.show(page{Title: v.say(wording.Phrase{EN: "%s: diff", ZH: "%s：差异"}, m.Name), Machine: m, Entry: "diff", Template: "diff", Data: data})
}

// compared adds what changed, or why that is not known.
func (v *visit) compared(data *diffPage) error {
	old, err := v.past(data.Since)
	if known := (*pastError)(nil); errors.As(err, &known) {
		data.Failed = v.say(known.what, known.args...)
		return nil
	}
	if err != nil {
		return err
	}
	report := compare.Machines(old, v.now.models())
	data.Changes = gendocs.ChangesOf(&gendocs.Since{Revision: data.Since, Report: report}, data.Name, v.Lang)
	counts := map[string]int{}
	for _, c := range report.Changes {
		counts[c.Machine]++
		if c.Kind == compare.MachineRemoved {
			data.Gone = append(data.Gone, c.Machine)
		}
	}
	data.Count = counts[data.Name]
	for _, other := range v.now.machines {
		if n := counts[other.Name]; n > 0 && other != data.machine {
			data.Others = append(data.Others, menuEntry{Text: other.Name, Href: v.with(v.since(data.Since), "m", other.Name, "diff"), Warnings: n})
		}
	}
	i := slices.IndexFunc(old, func(o *model.Machine) bool { return o.Name == data.Name })
	if i < 0 {
		data.New = true
		return nil
	}
	if data.Count == 0 {
		return nil
	}
	return v.drawDiff(data, old[i], report)
}

// drawDiff adds the picture of what was and what is.
func (v *visit) drawDiff(data *diffPage, old *model.Machine, report *compare.Report) error {
	u := unite(old, data.Model, report)
	drawing, err := layWhole(u.machine, gensvg.Options{Lang: v.Lang, ID: "diff-" + data.Name, NoTitle: true, NoLegend: true})
	if err != nil {
		return err
	}
	data.Bare = len(u.machine.States) > picture.Large
	data.Picture = shown(drawing, u.marks())
	for _, kind := range []struct {
		class string
		text  wording.Phrase
	}{
		{added, wording.Phrase{EN: "added", ZH: "新增"}},
		{changed, wording.Phrase{EN: "changed", ZH: "变更"}},
		{removed, wording.Phrase{EN: "removed", ZH: "删除"}},
	} {
		data.Signs = append(data.Signs, sign{kind.class, v.say(kind.text)})
	}
	return nil
}

// addCommits adds those that changed the definitions; none where there is no
// repository, which the comparison says better.
func (v *visit) addCommits(data *diffPage) error {
	entries, err := revision.Log(v.Context(), v.studio.options.Root, commits, v.studio.options.Paths...)
	if errors.Is(err, revision.ErrNoGit) || errors.Is(err, revision.ErrNoRepository) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		data.Commits = append(data.Commits, commit{
			Href: v.with(v.since(e.Name), "m", data.Name, "diff"), Name: e.Name, Subject: e.Subject, Day: e.At.Format("2006-01-02"), Tags: e.Tags,
			Current: e.Name == data.Since || slices.Contains(e.Tags, data.Since),
		})
	}
	return nil
}

// models are those of all machines that have one.
func (s *snapshot) models() []*model.Machine {
	var all []*model.Machine
	for _, m := range s.machines {
		if m.Model != nil {
			all = append(all, m.Model)
		}
	}
	return all
}
