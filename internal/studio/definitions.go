package studio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/simulate"
	"github.com/pawl-go/pawl/internal/suite"
)

// snapshot is what the definitions were at one time. It never changes.
type snapshot struct {
	// version names the content: equal definitions have the same.
	version string
	// listing is what the files looked like before they were read.
	listing string
	// machines are in order of their files.
	machines []*machine
	// unread says why the definitions could not be read; those of before are kept.
	unread error
	// passed are files and folders that are not read beside the others; what was read of
	// them before is kept.
	passed []pipeline.PassedOver
}

// machine is one file of a definition, with the machine that it defines.
type machine struct {
	// Name is the machine's in addresses. Where the file has never been right it
	// is what is known of it: perhaps the name of the file.
	Name string
	// File is the definition's path, and Text its content.
	File string
	Text []byte
	// Model is nil when there is none yet that is whole.
	Model *model.Machine
	// Earlier says that the model is of an earlier text, since this one is wrong.
	Earlier bool
	// Problems and Waived are what the checks say of the text.
	Problems []diag.Problem
	Waived   []diag.Waived
	*made
}

// made is what was made of a model, each when it is first asked for.
type made struct {
	drawn  map[string]func() (gendocs.Parts, error)
	suites func() (gendocs.Machine, error)
	// played is the machine to simulate.
	played func() *simulate.Machine
	// pictures are those that are marked or filled in.
	pictures pictures

	mu    sync.Mutex
	files map[suiteIn]func() ([]gendocs.Download, error)
}

// suiteIn is a suite in a language.
type suiteIn struct{ name, lang string }

// suiteFiles renders a suite in every format.
func (d *made) suiteFiles(s *suite.Suite, lang string) ([]gendocs.Download, error) {
	d.mu.Lock()
	key := suiteIn{s.Name, lang}
	render, ok := d.files[key]
	if !ok {
		render = sync.OnceValues(func() ([]gendocs.Download, error) { return pipeline.SuiteFiles(s, lang) })
		d.files[key] = render
	}
	d.mu.Unlock()
	return render()
}

func madeOf(m *model.Machine) *made {
	d := &made{drawn: map[string]func() (gendocs.Parts, error){}, files: map[suiteIn]func() ([]gendocs.Download, error){}}
	if m == nil {
		return d
	}
	d.pictures.machine = m
	d.played = sync.OnceValue(func() *simulate.Machine { return simulate.For(m) })
	d.suites = sync.OnceValues(func() (gendocs.Machine, error) {
		all := pipeline.Described(m, nil)
		return all, pipeline.AddSuites(&all)
	})
	for _, lang := range gendocs.Languages() {
		d.drawn[lang] = sync.OnceValues(func() (gendocs.Parts, error) { return pipeline.Drawn(m, lang) })
	}
	return d
}

// Errors and Warnings count the problems.
func (m *machine) Errors() int { return m.count(diag.Error) }

// Warnings counts those that do not stop generation.
func (m *machine) Warnings() int { return m.count(diag.Warning) }

func (m *machine) count(s diag.Severity) int {
	n := 0
	for _, p := range m.Problems {
		if p.Severity == s {
			n++
		}
	}
	return n
}

// machine returns the one of that name, nil for none.
func (s *snapshot) machine(name string) *machine {
	for _, m := range s.machines {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// load reads the definitions. What was right before stays where it is wrong now.
func (s *Studio) load(ctx context.Context, before *snapshot) (*snapshot, error) {
	fsys := os.DirFS(s.options.Root)
	now := &snapshot{listing: listing(fsys, s.options.Paths)}
	definitions, passed, err := pipeline.ReadReadable(ctx, fsys, s.options.Paths)
	if err != nil {
		return now, err
	}
	now.passed = passed
	definitions = now.withEarlier(definitions, before)
	if len(definitions) == 0 && before == nil {
		return now, passed[0].Err
	}
	var problems diag.List
	machines, err := pipeline.Check(ctx, definitions, &problems)
	if err != nil {
		return now, err
	}
	models := map[string]*model.Machine{}
	for _, m := range machines {
		models[m.Source] = m
	}
	untrue := map[string]bool{}
	for _, p := range pipeline.Untrue(&problems) {
		untrue[p.Pos.File] = true
	}
	sum := sha256.New()
	for _, d := range definitions {
		m := &machine{File: d.Name, Text: d.Text}
		m.settle(models[d.Name], untrue[d.Name], before)
		m.Name = now.free(m.Name)
		m.Problems, m.Waived = about(&problems, d.Name)
		now.machines = append(now.machines, m)
		fmt.Fprintf(sum, "%q %q\n", d.Name, d.Text)
	}
	for _, p := range passed {
		fmt.Fprintf(sum, "%q\n", p.Err)
	}
	now.version = hex.EncodeToString(sum.Sum(nil)[:8])
	return now, nil
}

// withEarlier adds the definitions of before that are where nothing can be read now.
func (s *snapshot) withEarlier(definitions []pipeline.Definition, before *snapshot) []pipeline.Definition {
	if before == nil {
		return definitions
	}
	for _, m := range before.machines {
		for _, p := range s.passed {
			if m.File == p.Name || strings.HasPrefix(m.File, p.Name+"/") {
				definitions = append(definitions, pipeline.Definition{Name: m.File, Text: m.Text})
				break
			}
		}
	}
	slices.SortFunc(definitions, func(a, b pipeline.Definition) int { return strings.Compare(a.Name, b.Name) })
	return definitions
}

// settle gives a file its model: that of its text, or the last one that was whole.
func (m *machine) settle(now *model.Machine, untrue bool, before *snapshot) {
	var last *machine
	if before != nil {
		for _, b := range before.machines {
			if b.File == m.File && b.Model != nil {
				last = b
			}
		}
	}
	switch {
	case now != nil && !untrue && last != nil && !last.Earlier && string(last.Text) == string(m.Text):
		m.Model, m.made = last.Model, last.made
	case now != nil && !untrue:
		m.Model, m.made = now, madeOf(now)
	case last != nil:
		m.Model, m.made, m.Earlier = last.Model, last.made, true
	default:
		m.made = madeOf(nil)
	}
	m.Name = m.called()
}

// declared finds the name of a machine in a text that is wrong elsewhere.
var declared = regexp.MustCompile(`(?m)^machine:[ \t]*["']?([A-Za-z][A-Za-z0-9_]{0,62})["']?[ \t\r]*(?:#.*)?$`)

// called is the machine's name, or what is known of it.
func (m *machine) called() string {
	if m.Model != nil {
		return m.Model.Name
	}
	if found := declared.FindSubmatch(m.Text); found != nil {
		return string(found[1])
	}
	base := path.Base(m.File)
	return strings.TrimSuffix(base, path.Ext(base))
}

// free is the name, or one like it where another file has it.
func (s *snapshot) free(name string) string {
	candidate := name
	for i := 2; s.machine(candidate) != nil; i++ {
		candidate = name + "-" + strconv.Itoa(i)
	}
	return candidate
}

// about are what is said of one file.
func about(all *diag.List, file string) (problems []diag.Problem, waived []diag.Waived) {
	for _, p := range all.Sorted() {
		if p.Pos.File == file {
			problems = append(problems, p)
		}
	}
	for _, w := range all.Waived() {
		if w.Pos.File == file {
			waived = append(waived, w)
		}
	}
	return problems, waived
}

// listing says in a word what the files look like, so that an edit is seen.
func listing(fsys fs.FS, paths []string) string {
	var b strings.Builder
	files, passed, err := pipeline.ReadableFiles(fsys, paths)
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	for _, p := range passed {
		fmt.Fprintln(&b, p.Err)
	}
	for _, name := range files {
		info, err := fs.Stat(fsys, name)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		fmt.Fprintf(&b, "%q %d %d %v\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode())
	}
	return b.String()
}
