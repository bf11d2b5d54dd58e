package live

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/model"
)

// What reads a table whole takes a twentieth of the time.
func TestThePause(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0: time.Second, time.Millisecond: time.Second, 50 * time.Millisecond: time.Second, 200 * time.Millisecond: 4 * time.Second, 5 * time.Second: 100 * time.Second,
	} {
		require.Equal(t, want, pause(took), took)
	}
}

// A figure is as new as those that somebody looks at all the while until it is due, and
// a second for the reading; it is old when it was waited for in vain.
func TestFiguresAreOfNowOrOld(t *testing.T) {
	t.Parallel()
	var f Figure[int]
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.False(t, f.Current(at), "there is none")
	require.False(t, f.Old(at))
	f.At, f.Next = at, at.Add(4*time.Second)
	require.True(t, f.Current(at.Add(5*time.Second)))
	require.False(t, f.Current(at.Add(5*time.Second+1)))
	require.False(t, f.Old(at.Add(14*time.Second)))
	require.True(t, f.Old(at.Add(14*time.Second+1)))
}

// watching is a Watch over the machines of the repository, with what it asks.
func (b bed) watching() (*Watch, *recorder) {
	b.t.Helper()
	db, record := b.recording()
	all := machines(b.t)
	w := NewWatch(db, func() []*model.Machine { return all }, time.Now)
	b.t.Cleanup(w.Close)
	return w, record
}

// hear waits for news of a topic until the condition holds.
func hear(t *testing.T, w *Watch, topic Topic, holds func() bool) {
	t.Helper()
	news, stop := w.Listen(topic)
	defer stop()
	late := time.After(time.Minute)
	for !holds() {
		select {
		case <-news:
		case <-late:
			require.Fail(t, "nothing is heard")
		}
	}
}

// Figures are read for whoever looks, once for all, and for nobody not at all.
func TestWatchReadsWhileSomebodyLooks(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	w, record := b.watching()
	require.False(t, w.Machine("order").Counts.Known())
	require.Empty(t, record.taken(), "nobody looks")

	stop, another := w.Look(Of("order")), w.Look(Of("order"))
	hear(t, w, Of("order"), func() bool {
		v := w.Machine("order")
		return v.Counts.Known() && v.Moves.Known() && v.Deadlines.Known() && v.Oldest.Known() && w.Deliveries().Known()
	})
	require.EqualValues(t, 1, w.Machine("order").Counts.Value.Of("PENDING"))
	require.False(t, w.Machine("payment").Counts.Known(), "at which nobody looks")
	require.False(t, w.Lags().Known())
	stop()
	stop()
	require.Equal(t, fsm.Applied, b.pay(first, "p1", 100))
	hear(t, w, Of("order"), func() bool { return w.Machine("order").Counts.Value.Of("PAID") == 1 })

	another()
	w.mu.Lock()
	require.Empty(t, w.questions(machines(t)), "nobody looks any more")
	w.mu.Unlock()
	defer w.Look(All)()
	hear(t, w, All, func() bool { return w.Machine("payment").Counts.Known() && w.Machine("refund").Deadlines.Known() })
	require.False(t, w.Machine("payment").Moves.Known(), "the first page has no moves")
	defer w.Look(Beside)()
	hear(t, w, Beside, func() bool { return w.Lags().Known() })
	require.NotNil(t, w.Lags().Value.Outbox)
}

// Of a database that goes away the last figures stay, with the time since when, and it
// is found again.
func TestWatchOfADatabaseThatGoesAway(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	role := b.role()
	b.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	all := machines(t)
	w := NewWatch(b.as(role), func() []*model.Machine { return all }, time.Now)
	t.Cleanup(w.Close)
	defer w.Look(Of("order"))()
	hear(t, w, Of("order"), func() bool { return w.Machine("order").Counts.Known() })
	b.exec("ALTER ROLE " + role + " NOLOGIN")
	b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", role)
	hear(t, w, Of("order"), func() bool { return !w.Away().IsZero() })
	require.EqualValues(t, 1, w.Machine("order").Counts.Value.Of("PENDING"), "as it was")
	require.Equal(t, fsm.Applied, b.pay(first, "p1", 100))
	b.exec("ALTER ROLE " + role + " LOGIN")
	hear(t, w, Of("order"), func() bool { return w.Away().IsZero() && w.Machine("order").Counts.Value.Of("PAID") == 1 })
	require.NoError(t, w.Machine("order").Counts.Err)
}

// A table that is held is told as busy with the figures of before, and counted again.
func TestWatchOfATableThatIsHeld(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	w, _ := b.watching()
	defer w.Look(Of("order"))()
	hear(t, w, Of("order"), func() bool { return w.Machine("order").Counts.Known() })
	held, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), "ALTER TABLE orders ADD COLUMN note text")
	require.NoError(t, err)
	hear(t, w, Of("order"), func() bool { return w.Machine("order").Counts.Err != nil })
	v := w.Machine("order").Counts
	require.ErrorIs(t, v.Err, ErrBusy)
	require.False(t, v.Failed.IsZero())
	require.EqualValues(t, 1, v.Value.Total)
	require.NoError(t, held.Commit(t.Context()))
	hear(t, w, Of("order"), func() bool { return w.Machine("order").Counts.Err == nil })
}

func TestKeys(t *testing.T) {
	t.Parallel()
	m := define(t, strings.Replace(lamp, ", status: {column: status, type: lamp_state}", "", 1))
	require.Equal(t, []string{"7"}, KeyOf(m, "7"))
	for _, text := range []string{"", "x", "7.5", "99999999999", "[7]", " 7"} {
		require.Nil(t, KeyOf(m, text), text)
	}
	three := define(t, lease)
	for _, text := range []string{"", "x", "[]", `["a", 7]`, `["a", "x", "2024-02-29"]`, `["a", 7, "2024-02-30"]`, `["a", 7, {"b": 1}]`} {
		require.Nil(t, KeyOf(three, text), text)
	}
}
