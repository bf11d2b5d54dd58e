package cli

import (
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
)

// usage lists the verbs.
func usage(w io.Writer) {
	_, _ = fmt.Fprint(w, "fsmgen turns transition tables into guarded PostgreSQL statements and a typed Go API.\n\n")
	for _, c := range commands() {
		_, _ = fmt.Fprintf(w, "  fsmgen %s\n        %s\n", strings.TrimSpace(c.name+" "+c.args), c.short)
	}
	_, _ = fmt.Fprint(w, "\nEvery command takes -C FOLDER, the root of the project (default: this folder), and -h.\n"+
		"Results go to standard output; summaries, notes and what went wrong to standard error.\n"+
		"Exit codes: 0 fine, 1 findings, differing output or breaking changes, 2 usage or input and output.\n")
}

// usage explains the verb and its flags.
func (c command) usage(k *call) {
	_, _ = fmt.Fprintf(k.out, "usage: fsmgen %s\n\n%s\n\n", strings.TrimSpace(c.name+" "+c.args), c.short)
	k.flags.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		_, _ = fmt.Fprintf(k.out, "  %s\n        %s", strings.TrimSpace(written(f.Name)+" "+value), text)
		if f.DefValue != "" && f.DefValue != "false" {
			_, _ = fmt.Fprintf(k.out, " (default %s)", f.DefValue)
		}
		_, _ = fmt.Fprintln(k.out)
	})
}

// written is a flag as people write it.
func written(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// singleDash finds the flag in an error of package flag, which has one dash
// however it was written.
var singleDash = regexp.MustCompile(`^(flag provided but not defined:|flag needs an argument:|invalid (?:boolean )?value .* for (?:flag )?)( ?)-(\w[\w-]+)`)

// badFlag says in one line what is wrong with a flag.
func (c command) badFlag(k *call, err error) error {
	text := singleDash.ReplaceAllString(err.Error(), "$1$2--$3")
	if unknown, ok := strings.CutPrefix(text, "flag provided but not defined: "); ok {
		var names []string
		k.flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		if near := diag.Nearest(strings.TrimLeft(unknown, "-"), names); near != "" {
			text += "; did you mean " + written(near) + "?"
		}
	}
	return fmt.Errorf("%s (fsmgen %s -h lists the flags)", text, c.name)
}

// meant ends the sentence that there is no such verb.
func meant(name string) string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	slices.Reverse(names) // of two equally near the first counts, and init is run but once
	if near := diag.Nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ": fsmgen -h lists them"
}
