package audit

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

// A connection string of several hosts names the one to take, and that the audit's own
// session writes nothing is no reason to pass over it. (internal/failover audits behind
// hosts that are standbys.)
func TestWhichServerIsAudited(t *testing.T) {
	t.Parallel()
	url := testdb.URL(t)
	for attrs, takes := range map[string]bool{
		"any": true, "read-write": true, "primary": true, "prefer-standby": true, "read-only": false, "standby": false,
	} {
		conn, err := connect(t.Context(), url+"&target_session_attrs="+attrs)
		if !takes {
			require.Error(t, err, attrs)
			continue
		}
		require.NoError(t, err, attrs)
		_, err = conn.Exec(t.Context(), "CREATE TABLE t ()", pgx.QueryExecModeSimpleProtocol)
		require.ErrorContains(t, err, "read-only transaction", attrs)
		require.NoError(t, conn.Close(t.Context()))
	}
}
