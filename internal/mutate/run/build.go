package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// migrationVariable names, for a test binary of this command, a file whose first
// line is the name of a migration and whose rest is the text to take for it.
const migrationVariable = "PAWL_MUTANT_MIGRATION"

// brokenMigrations stands for the package migrations in the test binaries: the
// same files, but one. Statements need no such thing, since the generated tests
// know how to send others.
const brokenMigrations = `package migrations

import (
	"embed"
	"io/fs"
	"os"
	"strings"
	"testing/fstest"
)

//go:embed *.sql
var embedded embed.FS

var FS = broken()

func broken() fs.FS {
	file := os.Getenv("` + migrationVariable + `")
	if file == "" {
		return embedded
	}
	content, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	name, text, _ := strings.Cut(string(content), "\n")
	all := fstest.MapFS{name: &fstest.MapFile{Data: []byte(text)}}
	entries, err := fs.ReadDir(embedded, ".")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		data, err := fs.ReadFile(embedded, e.Name())
		if err != nil {
			panic(err)
		}
		all[e.Name()] = &fstest.MapFile{Data: data}
	}
	return all
}
`

// suite is the test binary of a machine's package.
type suite struct {
	machine, binary, dir string
	// tests are the names of the tests that pass without a mutant and have none
	// below them, in order.
	tests []string
}

// build compiles the tests of a machine once, for all mutants.
func build(ctx context.Context, root, temp, machine string) (*suite, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	replaced := filepath.Join(temp, "migrations.go")
	overlay, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(root, "migrations", "migrations.go"): replaced},
	})
	if err != nil {
		return nil, err
	}
	list := filepath.Join(temp, "overlay.json")
	for file, content := range map[string][]byte{replaced: []byte(brokenMigrations), list: overlay} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, err
		}
	}
	s := &suite{machine: machine, binary: filepath.Join(temp, machine+".test"), dir: filepath.Join(root, "gen", machine)}
	c := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", list, "-o", s.binary, "./gen/"+machine)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the tests of %s: %w\n%s", machine, err, out)
	}
	if _, err := os.Stat(s.binary); err != nil {
		return nil, fmt.Errorf("the package gen/%s has no tests", machine)
	}
	return s, nil
}
