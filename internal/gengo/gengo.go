// Package gengo renders a checked machine as a Go package: its states and
// events, what outside words mean to it, its row, and a typed call for each event, alone and in a batch, that
// runs the machine's query through gen/db. It is pure: it reads no file and runs nothing.
package gengo

import (
	"fmt"
	"path"

	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
)

// RuntimePath is the import path of the runtime.
const RuntimePath = "github.com/pawl-go/pawl/fsm"

// File is one rendered file of the package.
type File struct {
	Name    string
	Content []byte
}

// Package renders the machine's package. dbPath is the import path of gen/db,
// which a machine without table does not need. The error says which file is no
// Go, and shows it.
func Package(m *model.Machine, dbPath string) ([]File, error) {
	g := &generator{m: m, db: dbPath}
	parts := []struct {
		name string
		body func(*genfile.File)
		sql  bool
	}{
		{"states.go", g.states, false},
		{"events.go", g.events, false},
		{"maps.go", g.maps, false},
		{"row.go", g.row, true},
		{"calls.go", g.calls, true},
		{"batches.go", g.batches, true},
		{"lifecycle.go", g.lifecycle, true},
	}
	var files []File
	for _, part := range parts {
		if part.sql && m.Table == nil || part.name == "maps.go" && len(m.Maps) == 0 || part.name == "batches.go" && len(m.Events) == 0 {
			continue
		}
		f := genfile.New(m.Package, m.Source)
		if part.name == "states.go" {
			g.packageComment(f)
		}
		part.body(f)
		content, err := f.Bytes()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(m.Package, part.name), err)
		}
		files = append(files, File{part.name, content})
	}
	return files, nil
}

type generator struct {
	m  *model.Machine
	db string
}
