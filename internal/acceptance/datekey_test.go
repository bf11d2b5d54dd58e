package acceptance

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A date as the key has one text, however the session writes dates.
func TestADateKeyHasOneText(t *testing.T) {
	t.Parallel()
	day := keyed{yaml: "{column: day, type: date}", args: args{"fsm_key": "2026-01-31"}}
	m := machineOf(t, storages[0].definition(day))
	s := &shop{t, migrated(t, m)}
	p := programOf(t, m, nil, day.args)
	for i, style := range []string{"ISO, MDY", "SQL, DMY", "German", "Postgres, MDY"} {
		conn := s.conn()
		_, err := conn.Exec(t.Context(), `SELECT set_config('datestyle', $1, false)`, style)
		require.NoError(t, err)
		if i == 0 {
			p.says(t, conn, "Applied PENDING 1 - create >PENDING 1", "Create", args{"total_cents": 100})
			p.says(t, conn, "Applied PAYING 2 - pay PENDING>PAYING 2", "Pay", nil)
		}
		p.says(t, conn, "Replayed PAYING 2 - pay PENDING>PAYING 2", "Pay", nil)
		p.says(t, conn, "Compensated PAYING 2 - paid PAYING>PAYING 2", "Paid", args{"nr": style, "cents": 1})
	}
	require.Equal(t, "2026-01-31 4", s.text(`SELECT min(key) || ' ' || count(*) FROM fsm_outbox WHERE payload ->> 'key' = key`))
	require.Equal(t, "2026-01-31 PAYING>PAYING 3", p.swept(t, s.pool, "SweepQuery", args{"fsm_now": noon.AddDate(0, 0, 1)}))
}
