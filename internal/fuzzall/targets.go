package main

import (
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// target is one fuzz target.
type target struct {
	pkg, name string // pkg is the folder
}

// String is the target's name with its folder.
func (t target) String() string { return t.pkg + "." + t.name }

var declared = regexp.MustCompile(`(?m)^func (Fuzz[A-Z]\w*)\(\w+ \*testing\.F\)`)

// targets finds the targets of the module at the root of fsys, in order of folder and
// name. Folders that Go leaves out, and other modules, are left out.
func targets(fsys fs.FS) ([]target, error) {
	var all []target
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(fsys, path.Join(name, "go.mod")); name != "." && err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		for _, m := range declared.FindAllSubmatch(src, -1) {
			all = append(all, target{path.Dir(name), string(m[1])})
		}
		return err
	})
	slices.SortFunc(all, func(a, b target) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name)) })
	return all, err
}
