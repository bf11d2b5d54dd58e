package main

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// A service that is killed in a callback, and started again, has the payment once.
// The provider comes no more where the service can do without: Retry is enough.
func TestKilledInACallback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point string
		left  string // order, event, entries of the ledger
		late  string // what makes the lease of the dead one end at once
		ended string // the change that Retry makes
		tells bool   // the provider, once more
	}{
		{
			"inbox.received", "PAYING received 0",
			"UPDATE fsm_inbox SET due_at = clock_timestamp()",
			"UPDATE ON fsm_inbox FOR EACH ROW WHEN (NEW.state = 'done')", false,
		},
		{
			"inbox.processed", "PAID done 1",
			"UPDATE fsm_deliveries SET received_at = received_at - interval '1 hour'",
			"UPDATE ON fsm_deliveries FOR EACH ROW WHEN (NEW.verdicts = '{interrupted}')", false,
		},
		{"inbox.recorded", "PAID done 1", "", "", true},
	} {
		t.Run(c.point, func(t *testing.T) {
			t.Parallel()
			url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
			conn, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
			found := func() (text string) {
				require.NoError(t, conn.QueryRow(t.Context(), `SELECT concat_ws(' ', (SELECT status FROM orders), (SELECT state FROM fsm_inbox),
					(SELECT count(*) FROM shop_ledger))`).Scan(&text))
				return text
			}
			first := start(t, url, c.point+"=kill@1")
			first.awaited()
			require.Zero(t, first.tell())
			<-first.died
			require.Equal(t, c.left, found())
			if !c.tells {
				for _, sql := range []string{
					c.late, `CREATE FUNCTION ended() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('ended', ''); RETURN NULL; END $$`,
					"CREATE TRIGGER ended AFTER " + c.ended + " EXECUTE FUNCTION ended()", "LISTEN ended",
				} {
					_, err := conn.Exec(t.Context(), sql)
					require.NoError(t, err)
				}
			}

			second := start(t, url, "")
			if c.tells {
				require.Equal(t, http.StatusOK, second.tell())
			} else {
				waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err = conn.WaitForNotification(waiting)
				require.NoError(t, err)
			}
			require.Equal(t, "PAID done 1", found())
			require.Equal(t, http.StatusOK, second.tell(), "whenever it comes")
			require.Equal(t, "PAID done 1", found())
			var effects string
			require.NoError(t, conn.QueryRow(t.Context(), `SELECT concat_ws(' ', (SELECT quantity FROM shop_stock), (SELECT count(*) FROM shop_points),
				(SELECT count(*) FROM order_history WHERE event = 'payment_succeeded'), (SELECT count(*) FROM shop_cases))`).Scan(&effects))
			require.Equal(t, "8 1 1 0", effects)
		})
	}
}
