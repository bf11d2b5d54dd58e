package attempt_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/attempt"
)

func (b *bench) sweep(page int) int {
	b.t.Helper()
	n, err := (&attempt.Sweeper{DB: b.pool, Kinds: []*attempt.Kind{b.kind}, Page: page}).Once(b.t.Context())
	require.NoError(b.t, err)
	return n
}

const monthOld = `UPDATE fsm_attempts SET completed_at = completed_at - interval '30 days 1 second' WHERE completed_at IS NOT NULL`

// What is completed and old is archived whole, page by page; what is not stays.
func TestSweep(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE TABLE reserved (business_key text NOT NULL)`)
	b.kind.Steps = []attempt.Step{{Name: "reserve", Do: reserve}}
	var ids []string
	for i := range 5 {
		a := b.start(fmt.Sprintf("r%d", i))
		b.driven(a.ID)
		ids = append(ids, a.ID)
	}
	open := b.start("open")
	require.Zero(t, b.sweep(2), "nothing is old")
	b.exec(monthOld)
	b.exec(`UPDATE fsm_attempts SET created_at = created_at - interval '1 year'`)
	fresh := b.start("fresh")
	b.driven(fresh.ID)

	before := b.get(ids[0])
	require.Equal(t, 5, b.sweep(2))
	require.Zero(t, b.sweep(2))
	require.Equal(t, 2, b.count(`SELECT count(*) FROM fsm_attempts`))
	require.Equal(t, 5, b.count(`SELECT count(*) FROM fsm_attempts_archive`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_attempt_steps`), "the steps went with them")
	after := b.get(ids[0])
	require.True(t, after.Archived)
	after.Archived = false
	require.Equal(t, before, after)
	require.False(t, b.get(open.ID).Archived)
	require.False(t, b.get(fresh.ID).Archived)
}

// A late caller does not start again what was archived, nor what is gone from the
// archive too.
func TestArchivedKeysStay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.start("r1")
	b.driven(a.ID)
	b.exec(monthOld)
	require.Equal(t, 1, b.sweep(0))
	again, started, err := attempt.Start(t.Context(), b.pool, b.kind, "r1", money{500})
	require.NoError(t, err)
	require.False(t, started)
	require.Equal(t, a.ID, again.ID)
	require.Equal(t, attempt.Succeeded, again.State)
	require.True(t, b.driven(a.ID).Archived, "there is nothing to drive")
	_, _, err = attempt.Start(t.Context(), b.pool, b.kind, "r1", money{1})
	require.ErrorIs(t, err, attempt.ErrMismatch)

	b.exec(`DELETE FROM fsm_attempts_archive`)
	_, started, err = attempt.Start(t.Context(), b.pool, b.kind, "r1", money{500})
	require.ErrorIs(t, err, attempt.ErrSpent)
	require.False(t, started)
	require.Equal(t, 1, b.provider.left())
}

// What is commonly done instead: the row holds the key, and the sweep deletes it.
func TestNaiveSweepFreesTheKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.start("r1")
	b.driven(a.ID)
	b.exec(`DELETE FROM fsm_attempts`)
	b.exec(`DELETE FROM fsm_attempt_keys`)
	b.driven(b.start("r1").ID)
	require.Equal(t, 2, b.provider.left())
}

// A row that somebody holds is passed over, and does not keep others waiting.
func TestSweepPassesOverLockedRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.driven(b.start("r1").ID)
	b.driven(b.start("r2").ID)
	b.exec(monthOld)
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM fsm_attempts WHERE business_key = 'r1' FOR UPDATE`)
	require.NoError(t, err)
	require.Equal(t, 1, b.sweep(0))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, 1, b.sweep(0))
}
