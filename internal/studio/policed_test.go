package studio_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/studio"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// Where policies hide rows from the studio's role, its pages say what their figures are of,
// and a row that is not shown is not said not to be there.
func TestPagesSayWhatTheRoleMaySee(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	text, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	role := "r" + strings.ToLower(rand.Text())[:12]
	s := shop{nil, pool}
	exec := func(sql string) {
		_, err := pool.Exec(context.Background(), sql)
		require.NoError(t, err, sql)
	}
	exec("CREATE ROLE " + role + " LOGIN PASSWORD 'x'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	t.Cleanup(func() { exec("DROP OWNED BY " + role + "; DROP ROLE " + role) })
	_, err = order.Create(t.Context(), pool, order.CreateParams{Key: paid, CustomerID: "ann", Sku: "tea", Quantity: 1, TotalCents: 100}, fsm.Actor("ann"))
	require.NoError(t, err)
	u, err := url.Parse(pool.Config().ConnString())
	require.NoError(t, err)
	u.User = url.UserPassword(role, "x")
	s.open = serve(t, project(t, map[string]string{"order.yaml": string(text)}), studio.Options{Database: u.String()})

	body := s.until("/m/order/live", "<dd>1</dd>")
	require.NotContains(t, body, "Row-level security")
	exec("ALTER TABLE orders ENABLE ROW LEVEL SECURITY")
	s.until("/m/order/live?lang=en", "Row-level security is active for the role <b>"+role+"</b>", `<span class="mono">orders</span>`, `that the role may see</span></dt><dd>0</dd>`)
	s.until("/m/order/live?lang=zh", "行级安全", "角色可见")
	s.until("/?lang=en", `<b>0</b> rows<span class="muted"> that the role may see`)
	s.until("/lags", "Row-level security is active")
	_, body = s.get(http.StatusOK, "/find?q="+paid)
	require.Contains(t, body, "Row-level security shows the role "+role+" some rows of orders alone")
	require.NotContains(t, body, "Nothing is known by", "nobody can say so")
	require.Contains(t, body, "In what could be read, nothing was found by <b>"+paid)
	exec("ALTER TABLE order_history ENABLE ROW LEVEL SECURITY")
	_, body = s.get(http.StatusNotFound, "/m/order/rows/"+paid)
	require.Contains(t, body, "There is no row of this key that the role may see.")
}
