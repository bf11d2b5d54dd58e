package layout

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/pawl-go/pawl/"

// table has every package of the module and what it may import of the module,
// outside its tests. A name that ends in /... stands for all below it. A new
// package is entered here first.
var table = []struct {
	pkg  string
	uses []string
}{
	{"internal/diag", nil},
	{"internal/syntax", []string{"internal/diag"}},
	{"internal/pgparse", nil},
	{"internal/sqlexpr", []string{"internal/pgparse"}},
	{"internal/bypass", []string{"internal/diag", "internal/pgparse", "internal/sqlname"}},
	{"internal/model", []string{"internal/diag"}},
	{"internal/oracle", []string{"internal/model", "internal/sqlname"}},
	{"internal/evaluate", []string{"internal/diag", "internal/model", "internal/oracle", "internal/sqlexpr"}},
	{"internal/linear", []string{"internal/evaluate", "internal/model", "internal/oracle"}},
	{"internal/sqlname", nil},
	{"internal/duration", nil},
	{"internal/genfile", nil},
	{"internal/sqlcname", []string{"internal/genfile"}},
	{"internal/logic", []string{"internal/sqlexpr"}},
	{"internal/randommachine", []string{"internal/model", "internal/sqlname"}},
	{"internal/example", []string{"internal/model", "internal/logic"}},
	{"internal/check", []string{"internal/diag", "internal/duration", "internal/syntax", "internal/model", "internal/sqlexpr", "internal/logic", "internal/example", "internal/genfile", "internal/sqlname", "internal/sqlcname"}},
	{"internal/wording", []string{"internal/model", "internal/duration"}},
	{"internal/suite", []string{"internal/diag", "internal/model", "internal/example"}},
	{"internal/simulate", []string{"internal/diag", "internal/duration", "internal/evaluate", "internal/example", "internal/model", "internal/oracle", "internal/picture", "internal/suite", "internal/sqlname"}},
	{"internal/gendocs", []string{"internal/model", "internal/diag", "internal/wording", "internal/suite", "internal/compare"}},
	{"internal/picture", []string{"internal/model", "internal/wording"}},
	{"internal/layered", nil},
	{"internal/gensvg", []string{"internal/model", "internal/picture", "internal/layered", "internal/wording"}},
	{"internal/sheet", nil},
	{"internal/genmatrix", []string{"internal/duration", "internal/model", "internal/sheet", "internal/wording"}},
	{"internal/gensuite", []string{"internal/diag", "internal/model", "internal/sheet", "internal/suite", "internal/wording"}},
	{"internal/jsonschema", []string{"internal/diag", "internal/syntax", "internal/model", "internal/check"}},
	{"internal/gendiagram", []string{"internal/model", "internal/picture", "internal/wording"}},
	{"internal/gensql", []string{"internal/model", "internal/diag", "internal/sqlname"}},
	{"internal/genroles", []string{"internal/pgparse", "internal/sqlname", "internal/tables"}},
	{"internal/gengo", []string{"internal/duration", "internal/model", "internal/genfile", "internal/sqlcname", "internal/sqlname"}},
	{"internal/genfire", []string{"internal/model", "internal/genfile", "internal/suite", "internal/sqlname"}},
	{"internal/sqlcgen", nil},
	{"internal/tables", nil},
	{"internal/fileset", nil},
	{"internal/pipeline", []string{"internal/diag", "internal/syntax", "internal/model", "internal/check", "internal/jsonschema", "internal/genroles", "internal/gensql", "internal/gengo", "internal/sqlcgen", "internal/fileset", "internal/bypass", "internal/sqlname", "internal/sqlcname", "internal/gendocs", "internal/genfire", "internal/suite", "internal/gensvg", "internal/gendiagram", "internal/picture", "internal/genmatrix", "internal/gensuite", "internal/wording", "internal/tables"}},
	{"internal/compare", []string{"internal/diag", "internal/duration", "internal/model", "internal/sqlexpr"}},
	{"internal/revision", nil},
	{"internal/audit", []string{"internal/model", "internal/pgparse", "internal/sqlname"}},
	{"internal/rowcount", []string{"internal/model", "internal/sqlname"}},
	{"internal/live", []string{"internal/model", "internal/sqlname"}},
	{"internal/studio", []string{"internal/diag", "internal/live", "internal/model", "internal/wording", "internal/suite", "internal/compare", "internal/revision", "internal/gendocs", "internal/genmatrix", "internal/gensvg", "internal/picture", "internal/pipeline", "internal/duration", "internal/oracle", "internal/simulate"}},
	{"internal/cli", []string{"internal/studio", "internal/duration", "internal/pipeline", "internal/fileset", "internal/diag", "internal/compare", "internal/revision", "internal/rowcount", "internal/audit", "internal/model", "internal/gendocs", "internal/linear"}},
	{"cmd/fsmgen", []string{"internal/cli"}},

	{"fsm/internal/sleep", nil},
	{"fsm", []string{"fsm/internal/sleep"}},
	{"fsm/fsmtest", []string{"fsm"}},
	{"fsm/record", []string{"fsm"}},
	{"fsm/internal/alone", []string{"fsm"}},
	{"fsm/attempt", []string{"fsm", "fsm/fault", "fsm/internal/alone", "fsm/internal/sleep"}},
	{"fsm/attempt/attemptriver", []string{"fsm/attempt"}},
	{"fsm/fault", nil},
	{"fsm/token", []string{"fsm", "fsm/fault"}},
	{"fsm/internal/redisconn", nil},
	{"fsm/token/tokenredis", []string{"fsm", "fsm/fault", "fsm/internal/redisconn", "fsm/token"}},
	{"fsm/lock", []string{"fsm", "fsm/fault"}},
	{"fsm/lock/lockredis", []string{"fsm", "fsm/fault", "fsm/internal/redisconn", "fsm/lock"}},
	{"fsm/command", []string{"fsm", "fsm/fault"}},
	{"fsm/command/commandhttp", []string{"fsm", "fsm/command"}},
	{"fsm/webhook", nil},
	{"fsm/relay", []string{"fsm", "fsm/fault", "fsm/internal/alone", "fsm/internal/sleep"}},
	{"fsm/relay/relaywatermill", []string{"fsm/relay"}},
	{"fsm/consume", []string{"fsm", "fsm/fault"}},
	{"fsm/consume/consumeredis", []string{"fsm/internal/redisconn"}},
	{"fsm/consume/consumewatermill", []string{"fsm/consume"}},
	{"fsm/inbox", []string{"fsm", "fsm/fault", "fsm/internal/sleep", "fsm/webhook"}},
	{"fsm/fsmotel", []string{"fsm", "fsm/attempt", "fsm/command", "fsm/consume", "fsm/inbox", "fsm/lock", "fsm/relay"}},
	{"gen/db", nil},
	{"gen/article", []string{"fsm", "gen/db"}},
	{"gen/order", []string{"fsm", "gen/db"}},
	{"gen/payment", []string{"fsm", "gen/db"}},
	{"gen/refund", []string{"fsm", "gen/db"}},
	{"migrations", nil},
	{"examples/orders", []string{"fsm/...", "gen/...", "migrations", "internal/localpg", "examples/orders/..."}},
	{"examples/orders/runbook", []string{"fsm/...", "gen/...", "examples/orders/shop"}},
	{"examples/orders/shop", []string{"fsm/...", "gen/..."}},
	{"examples/orders/storm", []string{"fsm/...", "gen/..."}},

	{"internal/localpg", nil},
	{"internal/torture/wire", nil},
	{"internal/torture/journal", nil},
	{"internal/torture/load", []string{"fsm/...", "gen/...", "internal/torture/journal"}},
	{"internal/torture/nemesis", []string{"internal/localpg", "internal/torture/wire"}},
	{"internal/torture/judge", []string{"internal/audit", "internal/diag", "internal/linear", "internal/model", "internal/pipeline", "internal/torture/journal"}},
	{"internal/torture", []string{"internal/localpg", "internal/torture/..."}},
	{"internal/torture/run", []string{"internal/torture", "internal/torture/load", "migrations"}},
	{"internal/keyed", []string{"internal/pgparse"}},
	{"internal/mutate", []string{"internal/pgparse"}},
	{"internal/mutate/run", []string{"internal/mutate", "internal/localpg"}},
	{"internal/localpg/withpg", []string{"internal/localpg"}},
	{"internal/testdb", []string{"internal/localpg"}}, // the migrations are given to it
	{"internal/needs", nil},
	{"internal/testredis", []string{"internal/needs"}},
	{"internal/testrabbit", []string{"internal/needs"}},
	{"internal/testpgbouncer", []string{"internal/needs"}},
	{"internal/testpatroni", []string{"internal/needs"}},
	{"internal/layout", nil},
	{"internal/stranger", nil},
	{"internal/hostile", nil},
	{"internal/fuzzall", nil},
	{"internal/acceptance", nil},
	{"internal/failover", nil},
	{"internal/grants", nil},
	{"internal/vulns", nil},
}

// helpers are imported from tests alone.
var helpers = []string{"internal/testdb", "internal/testredis", "internal/testrabbit", "internal/testpgbouncer", "internal/testpatroni", "internal/needs"}

// trials are of the generator's side and run the runtime all the same, as a program of
// a user's does, since that is what is on trial.
var trials = []string{"internal/torture/load"}

// list runs go list and returns its lines.
func list(t *testing.T, format string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", format, module+"...").Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	allowed := map[string][]string{}
	for _, row := range table {
		allowed[row.pkg] = row.uses
	}
	seen := map[string]bool{}
	for _, line := range list(t, `{{.ImportPath}} {{join .Imports " "}}`) {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module)
		uses, known := allowed[pkg]
		require.True(t, known, "%s is not in the table", pkg)
		seen[pkg] = true
		for _, path := range fields[1:] {
			if used, ours := strings.CutPrefix(path, module); ours {
				require.True(t, permits(uses, used), "%s imports %s, which the table does not allow", pkg, used)
			}
		}
	}
	for _, row := range table {
		require.True(t, seen[row.pkg], "%s is in the table and nowhere else", row.pkg)
	}
}

func permits(uses []string, used string) bool {
	return slices.ContainsFunc(uses, func(u string) bool {
		below, all := strings.CutSuffix(u, "/...")
		return u == used || all && (used == below || strings.HasPrefix(used, below+"/"))
	})
}

// The table itself keeps generator and runtime apart, and helpers in tests.
func TestTheTableKeepsTheSidesApart(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		for _, u := range row.uses {
			generator := strings.HasPrefix(row.pkg, "internal/") && !slices.Contains(trials, row.pkg) || strings.HasPrefix(row.pkg, "cmd/")
			require.False(t, generator && strings.HasPrefix(u, "fsm"), "%s may not use the runtime", row.pkg)
			require.False(t, strings.HasPrefix(row.pkg, "fsm") && strings.HasPrefix(u, "internal/"), "%s may not use the generator", row.pkg)
			require.False(t, slices.Contains(helpers, u) && !slices.Contains(helpers, row.pkg), "%s is for tests", u)
		}
	}
}
