package audit_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/pipeline"
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

// Which moves are legal, the migrations know.
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
			d.exec(c.sql)
			lines, notes := d.guarded()
			require.Equal(t, c.want, lines)
			require.Equal(t, c.notes, notes)
		})
	}
}
