package fsmtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
)

// The package needs what a user of the runtime has: pgx, and the runtime.
func TestNeedsPgxAlone(t *testing.T) {
	t.Parallel()
	deps := func(packages ...string) []string {
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, packages...)...).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	const self = "github.com/pawl-go/pawl/fsm"
	allowed := append(deps("github.com/jackc/pgx/v5/pgxpool"), self, self+"/internal/sleep", self+"/fsmtest")
	require.Subset(t, allowed, deps(self+"/fsmtest"))
}

func TestBeside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ admin, want string }{
		{"postgres://u:p@host:5433/postgres?sslmode=disable", "postgres://u:p@host:5433/mine?sslmode=disable"},
		{"postgresql:///postgres?host=/tmp", "postgresql:///mine?host=/tmp"},
		{"host=/tmp dbname=postgres", "host=/tmp dbname=postgres dbname=mine"},
	} {
		got, err := beside(c.admin, "mine")
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err := beside("postgres://host:port/", "mine")
	require.ErrorContains(t, err, urlVariable)
}

func TestKeyValuesDiffer(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]string{
		"uuid": "'00000000-0000-4000-8000-00000000002a'", "date": "date '2000-01-01' + 42", "boolean": "false",
		"smallint": "42", "bigint": "42", "text": "'k16'", "character varying(20)": "'k16'",
	} {
		require.Equal(t, want, keyValue(typ, 42), typ)
		if typ != "boolean" {
			require.NotEqual(t, keyValue(typ, 43), keyValue(typ, 42), typ)
		}
	}
}

func TestStatementsAreReplacedByName(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "broken.sql")
	require.NoError(t, os.WriteFile(file, []byte("-- name: OrderPay :one\nSELECT 1;\n-- name: OrderShip :one\nSELECT 2;\n"), 0o600))
	s, err := readStatements(file)
	require.NoError(t, err)
	require.Len(t, s, 2)
	require.Equal(t, "-- name: OrderShip :one\nSELECT 2;\n", s.of("-- name: OrderShip :one\nUPDATE orders"))
	require.Equal(t, "-- name: OrderCancel :one\nUPDATE orders", s.of("-- name: OrderCancel :one\nUPDATE orders"))
	none, err := readStatements("")
	require.NoError(t, err)
	require.Empty(t, none)
	require.Nil(t, none.on(nil), "without statements the database is used as it is")
	_, err = readStatements(filepath.Join(t.TempDir(), "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDifference(t *testing.T) {
	t.Parallel()
	a := snapshot{Row: record{"status": "PAID", "version": json.Number("4")}, History: []record{{"version": json.Number("4"), "event": "pay"}}}
	require.Empty(t, difference(a, a))
	b := a.clone()
	b.Row["status"] = "PAYING"
	b.Outbox = append(b.Outbox, record{"topic": "<due>"})
	require.Equal(t, "PAID", a.Row["status"], "a clone may be changed")
	require.Equal(t, "\n  - row status: \"PAID\"\n  + row status: \"PAYING\"\n  + outbox {\"topic\":\"<due>\"}", difference(a, b))
	twice := a.clone()
	twice.History = append(twice.History, twice.History[0])
	require.Contains(t, difference(a, twice), "the same ones")
	require.Contains(t, difference(a, snapshot{}), "no row")
}

func TestMade(t *testing.T) {
	t.Parallel()
	before := snapshot{
		Facts: []record{{"event": "paid", "outcome": "Applied", "from_status": "PAYING", "to_status": "PAID", "version": json.Number("3")}},
		History: []record{
			{"event": "create", "from_status": nil, "to_status": "NEW", "version": json.Number("1")},
			{"event": "pay", "from_status": "NEW", "to_status": "PAYING", "version": json.Number("2")},
			{"event": "paid", "from_status": "PAYING", "to_status": "PAID", "version": json.Number("3")},
		},
	}
	first := fsm.Transition[string]{Event: "paid", Outcome: fsm.Applied, From: "PAYING", To: "PAID", Version: 3}
	for _, c := range []struct {
		name, event string
		j           judged
		before      snapshot
		want        fsm.Transition[string]
	}{
		{"applied", "ship", judged{outcome: fsm.Applied, move: &Transition{To: "SHIPPED"}}, before, fsm.Transition[string]{Event: "ship", Outcome: fsm.Applied, From: "PAID", To: "SHIPPED", Version: 4}},
		{"compensated", "odd", judged{outcome: fsm.Compensated}, before, fsm.Transition[string]{Event: "odd", Outcome: fsm.Compensated, From: "PAID", To: "PAID", Version: 3}},
		{"a known fact", "paid", judged{outcome: fsm.Replayed}, before, first},
		{"a replay cell", "pay", judged{outcome: fsm.Replayed}, before, fsm.Transition[string]{Event: "pay", Outcome: fsm.Applied, From: "NEW", To: "PAYING", Version: 2}},
		{"a replay cell without a first time", "ship", judged{outcome: fsm.Replayed}, before, fsm.Transition[string]{}},
		{"refused", "pay", judged{outcome: fsm.Rejected}, before, first},
		{"no history", "pay", judged{outcome: fsm.Rejected}, snapshot{}, fsm.Transition[string]{}},
	} {
		require.Equal(t, c.want, made(c.event, c.j, c.before), c.name)
	}
}

func TestGivenTellsWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values Values
		column Column
		want   string
	}{
		{Values{"n": "5"}, Column{Name: "n", Type: "bigint", Value: "1"}, "(5)::bigint"},
		{nil, Column{Name: "n", Type: "bigint", Value: "1"}, "(1)::bigint"},
		{nil, Column{Name: "n", Type: "text", Optional: true}, "(NULL)::text"},
	} {
		got, err := given(c.values, c.column)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err := given(nil, Column{Name: "n", Type: "bigint"})
	require.EqualError(t, err, "no value is known for n")
}
