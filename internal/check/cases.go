package check

import (
	"embed"
	"io/fs"
)

//go:embed testdata/bad testdata/good
var cases embed.FS

// Cases holds definitions by which the rules of this package are explained, and
// tested: bad/CODE-NAME.yaml fails with the problems of bad/want/CODE-NAME.txt,
// good/CODE-NAME.yaml passes. A folder instead of a file holds definitions that
// are checked together.
func Cases() fs.FS {
	sub, err := fs.Sub(cases, "testdata")
	if err != nil {
		return embed.FS{} // the path is a constant that is valid
	}
	return sub
}
