package command_test

import (
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
)

// Behind a pooler pgx sends arguments without knowing the columns' types. A reply
// and its headers are kept and come back all the same.
func TestModesOfPgx(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			config := open(t).Config()
			config.ConnConfig.DefaultQueryExecMode = mode
			pool, err := pgxpool.NewWithConfig(t.Context(), config)
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			plain, held := command.Command{Name: "plain"}, leased()
			for i := range 2 {
				a, err := plain.Do(t.Context(), pool, payment("k", `{}`), pay)
				require.NoError(t, err)
				require.Equal(t, i == 1, a.Replayed)
				require.Equal(t, `{"paid":100}`, string(a.Body))
				require.Equal(t, "/payments/1", a.Header.Get("Location"))

				a, err = held.DoLeased(t.Context(), pool, payment("leased", `{}`), booking(pool, "ann"))
				require.NoError(t, err)
				require.Equal(t, i == 1, a.Replayed)
				require.Equal(t, http.StatusOK, a.Status)
			}
		})
	}
}
