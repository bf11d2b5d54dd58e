package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/order"
)

var (
	batchStatement = regexp.MustCompile("(?s)const \\w+ = `-- name: (\\w+Batch) :many\n(.*?)`")
	placed         = regexp.MustCompile(`\$(\d+)`)
)

// plan is a node of a plan as EXPLAIN shows it.
type plan struct {
	Kind  string `json:"Node Type"`
	CTE   string `json:"CTE Name"`
	Plans []plan
}

// compared is a part of the statement each of whose rows is compared with each of
// another one; empty for none.
func (p plan) compared() string {
	if p.Kind == "Nested Loop" {
		for inner := p.Plans[len(p.Plans)-1]; ; inner = inner.Plans[0] {
			if inner.Kind == "CTE Scan" {
				return inner.CTE
			}
			if inner.Kind != "Materialize" {
				break
			}
		}
	}
	for _, below := range p.Plans {
		if found := below.compared(); found != "" {
			return found
		}
	}
	return ""
}

// No statement of a batch takes a time that grows with the square of its items:
// PostgreSQL knows nothing of how many they are, and yet must compare no part of
// the statement with another row by row. That holds for tables that are new and
// for those it has counted.
func TestPlansOfBatches(t *testing.T) {
	t.Parallel()
	s := open(t)
	files, err := filepath.Glob("../../gen/db/*.sql.go")
	require.NoError(t, err)
	require.Greater(t, s.comparesNothing(files...), 20)
	s.insertOrders(1, 10_000)
	results, err := order.PayBatch(t.Context(), s.pool, payItems(1, 5000))
	require.NoError(t, err)
	require.NoError(t, results[0].Err)
	s.exec(`ANALYZE`)
	require.Greater(t, s.comparesNothing("../../gen/db/order.sql.go"), 10)
}

// comparesNothing looks at the plans of all batches of some files, and returns how
// many there are.
func (s *shop) comparesNothing(files ...string) (plans int) {
	s.t.Helper()
	conn := s.conn()
	set(s.t, conn, "plan_cache_mode = force_generic_plan")
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(s.t, err)
		for _, m := range batchStatement.FindAllStringSubmatch(string(text), -1) {
			name, sql := m[1], m[2]
			_, err := conn.Exec(s.t.Context(), "PREPARE "+name+" AS "+sql)
			require.NoError(s.t, err, name)
			args := strings.TrimSuffix(strings.Repeat("NULL, ", parameters(s.t, sql)), ", ")
			out := textIn(s.t, conn, "EXPLAIN (FORMAT JSON) EXECUTE "+name+"("+args+")")
			var roots []struct{ Plan plan }
			require.NoError(s.t, json.Unmarshal([]byte(out), &roots))
			require.Empty(s.t, roots[0].Plan.compared(), "%s compares each row of a part:\n%s", name, out)
			plans++
		}
	}
	return plans
}

// parameters is how many a statement has.
func parameters(t testing.TB, sql string) (n int) {
	t.Helper()
	for _, p := range placed.FindAllStringSubmatch(sql, -1) {
		number, err := strconv.Atoi(p[1])
		require.NoError(t, err)
		n = max(n, number)
	}
	return n
}
