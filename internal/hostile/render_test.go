package hostile

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/genfire"
	"github.com/pawl-go/pawl/internal/gengo"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// file is the name of the definition that is checked.
const file = "definitions/x.yaml"

// checked is the machine of a definition, nil when it is refused.
func checked(t testing.TB, source []byte) (*model.Machine, *diag.List) {
	t.Helper()
	var problems diag.List
	machines, err := pipeline.Lint(context.Background(), fstest.MapFS{file: {Data: source}}, []string{"definitions"}, &problems)
	require.NoError(t, err)
	if problems.Errors() > 0 {
		return nil, &problems
	}
	require.Len(t, machines, 1)
	return machines[0], &problems
}

// rendered is what a machine's code is made of.
type rendered struct {
	machine   *model.Machine
	migration []byte
	queries   []byte
	packages  []gengo.File
}

// render makes all that generation makes but gen/db, which is sqlc's work and takes
// a second; the test of whole projects has that too.
func render(t testing.TB, m *model.Machine) rendered {
	t.Helper()
	r := rendered{machine: m}
	var err error
	r.packages, err = gengo.Package(m, "example.com/x/gen/db")
	require.NoError(t, err)
	if m.Table == nil {
		return r
	}
	var problems diag.List
	r.migration = gensql.Migration(m, nil, &problems)
	require.Empty(t, problems.Sorted())
	schema := gensql.SchemaOf(m)
	r.queries = gensql.Queries(m, &schema)
	in := genfire.Input{Machine: m, Package: "example.com/x/gen/" + m.Package, Migrations: "example.com/x/migrations"}
	in.Cells, in.Races = genfire.Plain(m)
	test, err := genfire.Test(in)
	require.NoError(t, err)
	r.packages = append(r.packages, gengo.File{Name: genfire.Name, Content: test})
	return r
}
