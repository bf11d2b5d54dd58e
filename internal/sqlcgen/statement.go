package sqlcgen

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Statement is a query as sqlc has read it.
type Statement struct {
	Name string
	// File is the base name of the file it stands in.
	File string
	// SQL is its text as gen/db sends it, without its name; parameters are $1 and so on.
	SQL string
	// Params are the types of the parameters, in order.
	Params  []string
	Columns []Column
}

// Column is a column of what a statement returns.
type Column struct{ Name, Type string }

// analysis is where sqlc writes down what it has read, below the folder of a run.
const analysis = "gen/analysis/request.json"

const analysisConfig = `      json:
        out: gen/analysis
        filename: request.json
`

// request is what sqlc tells those who generate code, as far as it is needed here.
type request struct {
	Queries []struct {
		Text, Name, Filename string
		Columns              []analysed
		Params               []struct {
			Number int
			Column analysed
		}
	}
}

type analysed struct {
	Name      string
	IsArray   bool `json:"is_array"`
	ArrayDims int  `json:"array_dims"`
	Type      struct{ Schema, Name string }
}

func readStatements(dir string) ([]Statement, error) {
	content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(analysis)))
	if err != nil {
		return nil, err
	}
	var r request
	if err := json.Unmarshal(content, &r); err != nil {
		return nil, fmt.Errorf("what sqlc has read: %w", err)
	}
	statements := make([]Statement, 0, len(r.Queries))
	for _, q := range r.Queries {
		s := Statement{Name: q.Name, File: q.Filename, SQL: q.Text}
		for i, p := range q.Params {
			if p.Number != i+1 {
				return nil, fmt.Errorf("parameter %d of %s is number %d", i+1, q.Name, p.Number)
			}
			s.Params = append(s.Params, p.Column.typeName())
		}
		for _, c := range q.Columns {
			s.Columns = append(s.Columns, Column{c.Name, c.typeName()})
		}
		statements = append(statements, s)
	}
	return statements, nil
}

var plainType = regexp.MustCompile(`^[a-z_][a-z0-9_ ]*$`)

// typeName spells the type for SQL. Those of the catalog and of the schema that all
// migrations write to stand without a schema.
func (a analysed) typeName() string {
	name := a.Type.Name
	if !plainType.MatchString(name) {
		name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	switch a.Type.Schema {
	case "", "public", "pg_catalog":
	default:
		name = `"` + strings.ReplaceAll(a.Type.Schema, `"`, `""`) + `".` + name
	}
	if a.IsArray {
		name += strings.Repeat("[]", max(a.ArrayDims, 1))
	}
	return name
}
