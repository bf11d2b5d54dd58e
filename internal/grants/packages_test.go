package grants

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// packages are those that work on tables of their own.
var packages = []string{"attempt", "command", "consume", "inbox", "lock", "relay", "token"}

// statementsOf are the texts of SQL in a package, put together from literals and
// constants; what is known at run time alone stands as a name.
func statementsOf(t *testing.T, pkg string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "fsm", pkg, "*.go"))
	require.NoError(t, err)
	var trees []*ast.File
	known := map[string]ast.Expr{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		trees = append(trees, tree)
		ast.Inspect(tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
				for i, name := range spec.Names {
					known[name.Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	begins := regexp.MustCompile(`(?is)^(\s|--[^\n]*\n)*(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)
	var found []string
	for _, tree := range trees {
		ast.Inspect(tree, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			if text, ok := textOf(e, known); ok {
				if begins.MatchString(text) {
					found = append(found, text)
				}
				return false
			}
			return true
		})
	}
	return found
}

// textOf puts a text together.
func textOf(e ast.Expr, known map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := textOf(e.X, known)
		if e.Op != token.ADD || !ok {
			return "", false
		}
		right, ok := textOf(e.Y, known)
		if name, isName := e.Y.(*ast.Ident); !ok && isName && known[name.Name] != nil {
			right, ok = textOf(known[name.Name], known)
		}
		if !ok {
			right = " unknown "
		}
		return left + right, true
	}
	return "", false
}

// needs adds the privileges that a statement takes, as TABLE VERB.
func needs(t *testing.T, sql string, into map[string]bool) bool {
	t.Helper()
	tree, err := pgparse.Parse(strings.NewReplacer("%s", "unknown", "%d", "1").Replace(sql))
	if err != nil {
		return false
	}
	parts, only := map[string]bool{}, map[*pg.RangeVar]bool{}
	var walk func(m protoreflect.Message, see func(any))
	walk = func(m protoreflect.Message, see func(any)) {
		see(m.Interface())
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			switch {
			case f.Kind() != protoreflect.MessageKind:
			case f.IsList():
				for i := range v.List().Len() {
					walk(v.List().Get(i).Message(), see)
				}
			default:
				walk(v.Message(), see)
			}
			return true
		})
	}
	for _, s := range tree.GetStmts() {
		m := s.GetStmt().ProtoReflect()
		walk(m, func(n any) {
			if c, ok := n.(*pg.CommonTableExpr); ok {
				parts[c.GetCtename()] = true
			}
		})
		walk(m, func(n any) {
			switch n := n.(type) {
			case *pg.InsertStmt:
				into[n.GetRelation().GetRelname()+" INSERT"] = true
				only[n.GetRelation()] = true
				if c := n.GetOnConflictClause(); len(c.GetTargetList()) > 0 {
					into[n.GetRelation().GetRelname()+" UPDATE"] = true
				}
			case *pg.UpdateStmt:
				into[n.GetRelation().GetRelname()+" UPDATE"] = true
			case *pg.DeleteStmt:
				into[n.GetRelation().GetRelname()+" DELETE"] = true
			case *pg.FuncCall:
				if name := n.GetFuncname(); name[len(name)-1].GetString_().GetSval() == "nextval" {
					into[n.GetArgs()[0].GetAConst().GetSval().GetSval()+" USAGE"] = true
				}
			}
		})
		walk(m, func(n any) {
			if v, ok := n.(*pg.RangeVar); ok && !parts[v.GetRelname()] && !only[v] && strings.HasPrefix(v.GetRelname(), "fsm_") {
				into[v.GetRelname()+" SELECT"] = true
			}
		})
	}
	return true
}

// The service may do what the statements of these packages do, and nothing with their
// tables that no statement does.
func TestTheServiceMayDoWhatItsPackagesDo(t *testing.T) {
	t.Parallel()
	need := map[string]bool{}
	read := 0
	for _, pkg := range packages {
		for _, sql := range statementsOf(t, pkg) {
			if needs(t, sql, need) {
				read++
			}
		}
	}
	require.Greater(t, read, 80, "of some 100 statements")
	s := open(t, statements) // these are the same in both forms
	got := map[string]bool{}
	for name := range beside {
		for _, verb := range []string{"SELECT", "INSERT", "UPDATE", "DELETE"} {
			got[name+" "+verb] = s.may(t, name, verb)
		}
	}
	for _, verb := range []string{"SELECT", "UPDATE", "DELETE"} { // creation is the machines'
		got["fsm_outbox "+verb] = s.may(t, "fsm_outbox", verb)
	}
	for key := range need {
		name, verb, _ := strings.Cut(key, " ")
		if verb != "USAGE" {
			require.True(t, got[key], "%s is needed and not granted", key)
			continue
		}
		var yes bool
		require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT has_sequence_privilege($1, $2, 'USAGE')", s.prefix+"app", name).Scan(&yes))
		require.True(t, yes, key)
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if got[key] && !strings.HasSuffix(key, " SELECT") { // ON CONFLICT reads, and who writes may look
			require.True(t, need[key], "%s is granted and no statement needs it", key)
		}
	}
}

func (s *stage) may(t *testing.T, table, verb string) (yes bool) {
	t.Helper()
	question := "has_any_column_privilege"
	if verb == "DELETE" {
		question = "has_table_privilege"
	}
	require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT "+question+"($1, $2, $3)", s.prefix+"app", table, verb).Scan(&yes))
	return yes
}
