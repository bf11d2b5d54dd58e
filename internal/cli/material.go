package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"golang.org/x/term"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// materialOptions are the flags of the verbs that make something for people to
// look at, or for their tools to read.
type materialOptions struct {
	// lang is a BCP 47 tag.
	lang string
	// out is the folder for the files; empty for standard output.
	out string
	// theme and state are of diagram alone, suite and limit of tests.
	theme, state string
	suite        string
	limit        int
}

func materialFlags(k *call) {
	k.flags.StringVar(&k.material.lang, "lang", "en", "the `LANGUAGE` of labels, such as en or zh; the words around them are Chinese for zh and English otherwise")
	k.flags.StringVar(&k.material.out, "out", "", "write the files into this `FOLDER` instead of to standard output")
}

// drawn reads the definitions that are named, or all, for material. What is
// wrong with them goes to standard error, since standard output is the
// material's. nil machines come with the exit code.
func (k *call) drawn(ctx context.Context) ([]*model.Machine, int) {
	names := k.args
	if len(names) == 0 {
		names = []string{pipeline.Definitions}
	}
	var machines []*model.Machine
	whole := true
	var problems diag.List
	for _, s := range k.gathered(names) {
		if s.err != nil {
			return nil, k.fail(k.atRoot(s.err))
		}
		var found diag.List
		read, ok, err := pipeline.ReadWhole(ctx, s.fsys, s.paths, &found)
		if err != nil {
			return nil, k.fail(k.atRoot(err))
		}
		for _, p := range found.Sorted() {
			s.locate(&p.Pos)
			problems.Add(p)
		}
		machines, whole = append(machines, read...), whole && ok
	}
	if problems.Errors() == 0 {
		return machines, exitFine
	}
	if err := problems.Text(k.err); err != nil {
		return nil, k.fail(err)
	}
	if !whole {
		_, _ = fmt.Fprintf(k.err, "%s; nothing was made, since it would not be true\n", summary(&problems))
		return nil, exitFindings
	}
	_, _ = fmt.Fprintf(k.err, "%s; what was made shows the definitions as they stand, and generate refuses them\n", summary(&problems))
	return machines, exitFine
}

// gathering is files and folders that are read as one.
type gathering struct {
	source
	paths []string
	err   error
}

// gathered puts what lies below the project's root together, so that machines
// are seen beside each other; a path that leads out of it is read by itself.
func (k *call) gathered(names []string) []gathering {
	var all []gathering
	inside := -1
	for _, name := range names {
		s, err := k.onDisk(name)
		switch {
		case err == nil && s.prefix == "" && inside >= 0:
			all[inside].paths = append(all[inside].paths, s.path)
			continue
		case err == nil && s.prefix == "":
			inside = len(all)
		}
		all = append(all, gathering{source: s, paths: []string{s.path}, err: err})
	}
	return all
}

// deliver writes the files of all machines into the folder asked for, or the
// first of the one machine to standard output: files of several are no document.
func (k *call) deliver(all [][]pipeline.Material) int {
	if k.material.out == "" {
		return k.show(all[0])
	}
	set := fileset.New()
	for _, f := range slices.Concat(all...) {
		if err := set.Add(f.Name, f.Content); err != nil {
			return k.fail(err)
		}
	}
	out := filepath.FromSlash(k.material.out)
	if !filepath.IsAbs(out) {
		out = filepath.Join(k.dir, out)
	}
	changes, err := set.Write(out, fileset.Owned{Unmarked: escaped(set.Paths())}) // asked for by name: whatever has it is replaced
	if err != nil {
		return k.fail(err)
	}
	if err := printChanges(k.err, changes); err != nil {
		return k.fail(err)
	}
	return exitFine
}

// escaped are paths as patterns that match them alone.
func escaped(paths []string) []string {
	for i, p := range paths {
		paths[i] = special.ReplaceAllString(p, `\$0`)
	}
	return paths
}

var special = regexp.MustCompile(`[\\*?\[]`)

// show prints the first file of a machine, and names what else there is. A
// spreadsheet is nothing for a terminal.
func (k *call) show(made []pipeline.Material) int {
	first := made[0]
	if f, ok := k.out.(*os.File); ok && path.Ext(first.Name) == ".xlsx" && term.IsTerminal(int(f.Fd())) {
		return k.fail(errors.New("a spreadsheet is nothing for a terminal: redirect it to a file, or give --out FOLDER"))
	}
	if _, err := k.out.Write(first.Content); err != nil {
		return k.fail(err)
	}
	if rest := len(made) - 1; rest > 0 {
		_, _ = fmt.Fprintf(k.err, "this is %s; --out FOLDER writes %s more with it, such as %s\n", first.Name, count(rest, "file"), made[1].Name)
	}
	return exitFine
}
