package audit_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/migrations"
)

// guarded audits the repository's machines with what their migrations tell.
func (d *database) guarded() (lines, notes []string) {
	d.t.Helper()
	past, err := pipeline.Past(os.DirFS("../.."))
	require.NoError(d.t, err)
	o := options(&lines)
	o.Past = past
	report, err := auditRun(d.t, d, o)
	require.NoError(d.t, err)
	return lines, report.Notes
}

// then brings the orders back to the migrations by which the trigger had the
// edges in its WHEN, and its function none.
func (d *database) then() {
	d.t.Helper()
	_, down, _ := strings.Cut(d.migration("*_order.sql", 1), "-- +goose Down")
	d.exec(down)
}

// migration is the nth of those with such a name.
func (d *database) migration(pattern string, n int) string {
	d.t.Helper()
	names, err := fs.Glob(migrations.FS, pattern)
	require.NoError(d.t, err)
	content, err := fs.ReadFile(migrations.FS, names[n])
	require.NoError(d.t, err)
	return string(content)
}

// rewrite replaces one piece of the function that refuses edges.
func (d *database) rewrite(old, new string) {
	d.t.Helper()
	var function string
	require.NoError(d.t, d.conn.QueryRow(d.t.Context(), `SELECT pg_get_functiondef('order_refuse_edge'::regproc)`).Scan(&function))
	require.Equal(d.t, 1, strings.Count(function, old), old)
	d.exec(strings.Replace(function, old, new, 1))
}

// Which moves are legal, the migrations know.
func TestEdgesOfAFunctionAreJudgedByTheMigrations(t *testing.T) {
	t.Parallel()
	const (
		function      = "CREATE OR REPLACE FUNCTION order_refuse_edge() RETURNS trigger LANGUAGE plpgsql AS $$ "
		uncounted     = "order: guard-weakened: the trigger order_edge lets a row move without its version being counted by one"
		forged        = "order: guard-weakened: the trigger order_edge takes a move for a correction of which the history does not tell"
		unjudged      = "order: what order_edge lets pass was not judged, since it is not written as migrations write it"
		unjudgedBirth = "order: what order_birth lets pass was not judged, since it is not written as migrations write it"
		unread        = "order: what order_refuse_edge lets pass was not judged, since it is not written as migrations write it"
		otherKey      = "order: guard-weakened: the trigger order_edge lets a row get another key"
		begins        = "order: guard-weakened: the trigger order_birth lets a row begin at another version than 1"
		noEdges       = "order: guard-mixed: the trigger order_edge has no condition and its function order_refuse_edge no edges: every update of a row is refused"
		edge          = "OLD.status = 'PENDING' AND NEW.status IN ('PAYING', 'PAID', 'CANCELLED')"
		sameRow       = "NEW.order_id = OLD.order_id AND (\n"
		moved         = "NEW.version = OLD.version + 1 AND (\n"
		still         = "NEW.version = OLD.version AND NEW.status = OLD.status"
		corrected     = "NEW.order_id = OLD.order_id AND NEW.version = OLD.version + 1 AND EXISTS"
		ofRow         = "h.order_id = NEW.order_id"
		ofVersion     = " AND h.version = NEW.version"
		fromStatus    = " AND h.from_status = OLD.status"
		toStatus      = " AND h.to_status = NEW.status"
	)
	for _, c := range []struct {
		name, old, new string
		want, notes    []string
	}{
		{"fewer edges", edge, "OLD.status = 'PENDING' AND NEW.status = 'PAID'", nil, []string{}},
		{"one more", edge, edge + " OR OLD.status = 'PENDING' AND NEW.status = 'SHIPPED'",
			[]string{"order: guard-weakened: the trigger order_edge lets a row move from PENDING to SHIPPED, which no transition does"}, []string{}},
		{"all from one state", edge, "OLD.status = 'PENDING'",
			[]string{"order: guard-weakened: the trigger order_edge lets a row move from PENDING to PENDING, which no transition does"}, []string{}},
		{"a version not counted", moved, "NEW.version >= OLD.version AND (\n", []string{uncounted}, []string{}},
		{"a state without a version", still, "NEW.version = OLD.version", []string{uncounted}, []string{}},
		{"any version of a state", still, "NEW.status = OLD.status", []string{uncounted}, []string{}},
		{"another key", sameRow, "(\n", []string{otherKey}, []string{}},
		{"refuses nothing", "BEGIN\n", "BEGIN\n  RETURN NULL;\n", []string{uncounted, begins}, []string{}},
		{"refuses no insert", "BEGIN\n", "BEGIN\n  IF TG_OP = 'INSERT' THEN RETURN NULL; END IF;\n", []string{begins}, []string{}},
		{"a warning", "RAISE EXCEPTION 'order: no edge", "RAISE WARNING 'order: no edge", nil, []string{}}, // it comes to its end, which is an error
		{"corrections of another key", corrected, "NEW.version = OLD.version + 1 AND EXISTS", []string{forged}, []string{}},
		{"corrections of any version", corrected, "NEW.order_id = OLD.order_id AND EXISTS", []string{forged}, []string{}},
		{"corrections that are none", " AND h.forced", "\n     ", []string{forged}, []string{}},
		{"a correction of another row", ofRow, "true", []string{forged}, []string{}},
		{"a correction of before", ofVersion, "", []string{forged}, []string{}},
		{"a correction from elsewhere", fromStatus, "", []string{forged}, []string{}},
		{"a correction to elsewhere", toStatus, "", []string{forged}, []string{}},
		{"corrections by another table", "FROM order_history AS h", "FROM orders AS h", nil, []string{unjudged}},
		{"in words that migrations do not use", edge, "length(OLD.status) > 100", nil, []string{unjudged, unjudgedBirth}},
		{"errors that are caught", "END $", "EXCEPTION WHEN others THEN RETURN NULL;\nEND $", nil, []string{unread}},
		{"a declaration", "BEGIN\n", "DECLARE old orders := new;\nBEGIN\n", nil, []string{unread}},
		{"no edges at all", "  IF " + sameRow, "  IF false AND (\n", []string{noEdges}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := migrated(t)
			d.rewrite(c.old, c.new)
			lines, notes := d.guarded()
			require.Equal(t, c.want, lines)
			require.Equal(t, c.notes, notes)
		})
	}
	t.Run("a function that lets all pass", func(t *testing.T) {
		t.Parallel()
		d := migrated(t)
		d.exec(function + "BEGIN RETURN NULL; END $$")
		lines, notes := d.guarded()
		require.Equal(t, []string{uncounted, begins}, lines)
		require.Empty(t, notes)
	})
}

// A database whose migrations wait, or went half back, has trigger and function
// of two times, or both of then.
func TestTriggerAndFunctionAreOfOneMigration(t *testing.T) {
	t.Parallel()
	const when = "order: guard-mixed: the trigger order_edge has a condition and its function order_refuse_edge has edges as well: only what both refuse is refused"
	for _, c := range []struct {
		name, begin string // what is run of the way back
		want        []string
	}{
		{"both of then", "", nil},
		{"the function of then", "CREATE OR REPLACE FUNCTION",
			[]string{"order: guard-mixed: the trigger order_edge has no condition and its function order_refuse_edge no edges: every update of a row is refused"}},
		{"the trigger of then", "DROP TRIGGER", []string{when}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := migrated(t)
			_, down, _ := strings.Cut(d.migration("*_order.sql", 1), "-- +goose Down")
			trigger, function, ok := strings.Cut(down, "-- +goose StatementBegin")
			require.True(t, ok)
			switch c.begin {
			case "":
				d.then()
			case "DROP TRIGGER":
				d.exec(trigger)
			default:
				d.exec(function)
			}
			lines, notes := d.guarded()
			require.Equal(t, c.want, lines)
			require.Empty(t, notes)
		})
	}
}

// As long as migrations wait, the trigger has the edges.
func TestEdgesOfATriggerAreJudgedByTheMigrations(t *testing.T) {
	t.Parallel()
	const (
		moved = `WHEN ((OLD.status <> NEW.status OR OLD.version <> NEW.version OR OLD.order_id <> NEW.order_id)
			AND NOT (OLD.order_id = NEW.order_id AND NEW.version = OLD.version + 1 AND (OLD.status = 'PENDING' AND NEW.status IN ('PAYING', 'PAID'`
		birth = `DROP TRIGGER order_birth ON orders; CREATE TRIGGER order_birth AFTER INSERT ON orders FOR EACH ROW `
	)
	for _, c := range []struct {
		name, sql   string
		want, notes []string
	}{
		{"as migrated", "", nil, []string{}},
		{"fewer edges", edgeTrigger("AFTER UPDATE", moved+"))))"), nil, []string{}},
		{"one more", edgeTrigger("AFTER UPDATE", moved+", 'SHIPPED'))))"),
			[]string{"order: guard-weakened: the trigger order_edge lets a row move from PENDING to SHIPPED, which no transition does"}, []string{}},
		{"any, one version on", edgeTrigger("AFTER UPDATE", "WHEN (OLD.order_id <> NEW.order_id OR NEW.version <> OLD.version + 1)"),
			[]string{"order: guard-weakened: the trigger order_edge lets a row move from PENDING to PENDING, which no transition does"}, []string{}},
		{"another beginning", birth + "WHEN (NEW.status NOT IN ('PENDING', 'PAID') OR NEW.version <> 1) EXECUTE FUNCTION order_refuse_edge('PENDING')",
			[]string{"order: guard-weakened: the trigger order_birth lets a row begin in PAID, in which none is created"}, []string{}},
		{"in words that migrations do not use", edgeTrigger("AFTER UPDATE", "WHEN (length(OLD.status) > 100)") + `;
			ALTER TABLE orders DROP CONSTRAINT orders_version_check, ADD CONSTRAINT orders_version_check CHECK (sign(version) > 0)`, nil,
			[]string{
				"order: what orders_version_check lets pass was not judged, since it is not written as migrations write it",
				"order: what order_edge lets pass was not judged, since it is not written as migrations write it",
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := migrated(t)
			d.then()
			d.exec(c.sql)
			lines, notes := d.guarded()
			require.Equal(t, c.want, lines)
			require.Equal(t, c.notes, notes)
		})
	}
}
