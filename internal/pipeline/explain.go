package pipeline

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
)

// cases explain the rules of internal/syntax, internal/gensql and this package.
// A file is a definition; a folder is a project, with definitions/ and, where it
// matters, queries/, the hand-written sql/ that lint --queries looks at, the
// definitions that its migrations were made from, first before/ and then
// before-2/, and in run.txt the command that is run instead of fsmgen generate.
//
//go:embed cases
var cases embed.FS

// Explanation is a rule with a case that fails by it, and one that passes.
type Explanation struct {
	diag.Rule
	Bad, Good Case
}

// Case is what a test runs to hold a rule to its word.
type Case struct {
	// Name is that of the file or folder, such as FSM012-no-events.
	Name  string
	Files []CaseFile
	// Problems are what fsmgen prints for the case, a line each; none for one
	// that passes.
	Problems string
}

// CaseFile is one file of a case. Its name is within the case.
type CaseFile struct{ Name, Text string }

// Explain returns every rule with its cases, in the order of the codes. Of
// several cases of a code the shortest is taken; one that is not there has no
// name. The error is of reading what is embedded.
func Explain() ([]Explanation, error) {
	own, err := fs.Sub(cases, "cases")
	if err != nil {
		return nil, err
	}
	bad, good := map[diag.Code]Case{}, map[diag.Code]Case{}
	for _, from := range []fs.FS{check.Cases(), own} {
		if err := readCases(from, "bad", bad); err != nil {
			return nil, err
		}
		if err := readCases(from, "good", good); err != nil {
			return nil, err
		}
	}
	var explained []Explanation
	for _, r := range Rules() {
		explained = append(explained, Explanation{Rule: r, Bad: bad[r.Code], Good: good[r.Code]})
	}
	return explained, nil
}

// readCases keeps the shortest case of each code.
func readCases(from fs.FS, folder string, into map[diag.Code]Case) error {
	entries, err := fs.ReadDir(from, folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == "want" {
			continue
		}
		c, err := readCase(from, folder, e)
		if err != nil {
			return err
		}
		code, _, _ := strings.Cut(c.Name, "-")
		if before, ok := into[diag.Code(code)]; !ok || c.size() < before.size() {
			into[diag.Code(code)] = c
		}
	}
	return nil
}

func readCase(from fs.FS, folder string, e fs.DirEntry) (Case, error) {
	c := Case{Name: strings.TrimSuffix(e.Name(), path.Ext(e.Name()))}
	root := path.Join(folder, e.Name())
	err := fs.WalkDir(from, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, name)
		within := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(name, root), "/"), e.Name())
		c.Files = append(c.Files, CaseFile{within, string(text)})
		return err
	})
	if err != nil || folder != "bad" {
		return c, err
	}
	problems, err := fs.ReadFile(from, path.Join("bad/want", c.Name+".txt"))
	c.Problems = string(problems)
	return c, err
}

// History says which of the case's folders were generated from, one after the
// other; empty for a case that has no past.
func (c Case) History() string {
	var folders []string
	how := "definitions/"
	for _, f := range c.Files {
		folder, _, _ := strings.Cut(f.Name, "/")
		switch {
		case strings.HasPrefix(folder, "before") && !slices.Contains(folders, folder+"/"):
			folders = append(folders, folder+"/")
		case folder == "run.txt":
			how = "advanced with definitions/"
		}
	}
	if len(folders) == 0 {
		return ""
	}
	return "generated from " + strings.Join(append(folders, how), ", then ")
}

// size is how much there is to read.
func (c Case) size() int {
	n := len(c.Problems)
	for _, f := range c.Files {
		n += len(f.Text)
	}
	return n
}

// Shown is the file's text as a terminal or a page can show it: long lines and
// long files are cut, and what cannot be seen or is no UTF-8 is spelt out, as
// \u202e and \xe9.
func (f CaseFile) Shown() string { return shown(f.Text) }

// ShownProblems is Problems, cut as files are.
func (c Case) ShownProblems() string { return shown(c.Problems) }

func shown(text string) string {
	const longest, most = 240, 30
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var b strings.Builder
	for i, line := range lines {
		if i == most && len(lines) > most+1 {
			fmt.Fprintf(&b, "… and %d lines more\n", len(lines)-most)
			break
		}
		cut := utf8.RuneCountInString(line) > longest
		if cut {
			line = string([]rune(line)[:longest])
		}
		for len(line) > 0 {
			r, size := utf8.DecodeRuneInString(line)
			switch {
			case r == utf8.RuneError && size == 1:
				fmt.Fprintf(&b, `\x%02x`, line[0])
			case r != '\t' && !unicode.IsPrint(r):
				fmt.Fprintf(&b, `\u%04x`, r)
			default:
				b.WriteRune(r)
			}
			line = line[size:]
		}
		if cut {
			b.WriteString("…")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Find returns the explanations of codes, in the order asked; all without a
// code. A code that is not there is an error, with the one that was probably
// meant.
func Find(codes []string) ([]Explanation, error) {
	all, err := Explain()
	if err != nil || len(codes) == 0 {
		return all, err
	}
	var known []string
	for _, e := range all {
		known = append(known, string(e.Code))
	}
	var found []Explanation
	for _, code := range codes {
		i := slices.Index(known, code)
		if i < 0 {
			hint := "; fsmgen rules lists them"
			if near := diag.Nearest(code, known); near != "" {
				hint = fmt.Sprintf("; did you mean %s?", near)
			}
			return nil, fmt.Errorf("there is no code %q%s", code, hint)
		}
		found = append(found, all[i])
	}
	return found, nil
}
