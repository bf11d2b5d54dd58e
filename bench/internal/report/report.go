// Package report writes a run down: JSON for programs, a page with tables for
// people, and pictures.
package report

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/pawl-go/pawl/bench/internal/result"
)

// Write writes all files of a run into a folder, which is made. Other files there
// stay.
func Write(folder string, a *result.All) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { // #nosec G301 -- for everybody to read
		return err
	}
	body, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		return err
	}
	files := map[string][]byte{"results.json": append(body, '\n'), "results.md": []byte(Markdown(a))}
	for _, picture := range pictures(a) {
		if files[picture.file], err = draw(picture); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil { // #nosec G306 -- for everybody to read
			return err
		}
	}
	return nil
}
