// Package tables has the migrations of the tables that the packages beside the
// runtime work on: de-duplication records, tokens, the inbox, and so on. Each
// part stands alone, and a project takes those that it uses.
//
// The texts are goose migrations. What they make is the business of the package
// of the same name below fsm, which is their only reader.
package tables

import (
	"bufio"
	"bytes"
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed *.sql
var files embed.FS

// Part is the tables of one package.
type Part struct {
	// Name is that of the package below fsm.
	Name string
	// Describe is one sentence.
	Describe string
	// SQL is the migration.
	SQL []byte
}

// mark begins the last line of a part's migration, with the name after it.
const mark = "-- fsmgen:tables "

// Parts returns all parts, by name.
func Parts() []Part {
	names, _ := fs.Glob(files, "*.sql") // the pattern is right
	parts := make([]Part, 0, len(names))
	for _, name := range names {
		sql, err := files.ReadFile(name)
		if err != nil {
			continue // it was listed just now
		}
		parts = append(parts, Part{strings.TrimSuffix(name, path.Ext(name)), describe(sql), sql})
	}
	slices.SortFunc(parts, func(a, b Part) int { return strings.Compare(a.Name, b.Name) })
	return parts
}

// describe is the comment that begins a migration, after the line that says who
// wrote it.
func describe(sql []byte) string {
	var words []string
	lines := bufio.NewScanner(bytes.NewReader(sql))
	for first := true; lines.Scan(); first = false {
		text, comment := strings.CutPrefix(lines.Text(), "-- ")
		if !comment {
			break
		}
		if !first {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}

// Made returns the names of the parts that a migration makes, by the marks that
// it carries; a project may have put several into one file.
func Made(sql []byte) []string {
	var names []string
	for line := range bytes.Lines(sql) {
		if rest, ok := strings.CutPrefix(string(line), mark); ok {
			if fields := strings.Fields(rest); len(fields) > 0 {
				names = append(names, fields[0])
			}
		}
	}
	return names
}
