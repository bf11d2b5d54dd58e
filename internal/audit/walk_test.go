package audit

import (
	"encoding/binary"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// swing is a machine that goes to and fro for ever, by an event whose facts count.
func swing() *model.Machine {
	l := &model.State{Name: "LEFT", Initial: true}
	r := &model.State{Name: "RIGHT", Index: 1}
	e := &model.Event{Name: "push", Identity: []*model.Param{{Name: "no"}}}
	return &model.Machine{
		Name: "swing", States: []*model.State{l, r}, Events: []*model.Event{e},
		Table:       &model.Table{Status: model.Status{Column: "status", Type: "text"}},
		Transitions: []*model.Transition{{Event: e, From: []*model.State{l}, To: r}, {Event: e, From: []*model.State{r}, To: l, Index: 1}},
	}
}

// play feeds a walker a swing of so many pushes, in perfect order.
func play(w *walker, key string, pushes int) {
	names := [][]byte{[]byte("LEFT"), []byte("RIGHT")}
	push, applied := []byte("push"), []byte("Applied")
	w.take(&record{key: []byte(key), of: ofRow, version: int64(pushes) + 1, to: names[pushes%2]})
	w.take(&record{key: []byte(key), of: ofEntry, version: 1, event: []byte(createEvent), to: names[0]})
	for i := 1; i <= pushes; i++ {
		r := record{key: []byte(key), of: ofEntry, version: int64(i) + 1, event: push, from: names[(i+1)%2], to: names[i%2]}
		w.take(&r)
		r.of, r.outcome = ofFact, applied
		w.take(&r)
	}
}

// Memory grows neither with one row's history nor with the rows.
func TestAWalkKeepsOneRowAndOneEntry(t *testing.T) { // alone, since it looks at the heap
	grown := func(play func(*walker)) int64 {
		w := newWalker(newLifecycle(swing(), model.Past{}), func(f Finding) { require.Fail(t, f.TextLine()) })
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		play(w)
		runtime.GC()
		runtime.ReadMemStats(&after)
		w.end()
		require.EqualValues(t, w.read.Entries, w.read.Facts+w.read.Rows)
		require.Greater(t, w.read.Entries, int64(200_000))
		return int64(after.HeapAlloc) - int64(before.HeapAlloc)
	}
	require.Less(t, grown(func(w *walker) { play(w, "one", 1_000_000) }), int64(100_000))
	require.Less(t, grown(func(w *walker) {
		for i := range 100_000 {
			play(w, strconv.Itoa(i), 2)
		}
	}), int64(100_000))
}

func TestARecordIsRefusedUnlessItIsOne(t *testing.T) {
	t.Parallel()
	n := binary.BigEndian.AppendUint64(nil, 7)
	good := [][]byte{[]byte("k"), n, n, nil, nil, []byte("LEFT"), {1}, {0}, nil, nil}
	var r record
	require.NoError(t, r.decode(good))
	require.Equal(t, record{key: []byte("k"), of: 7, version: 7, to: []byte("LEFT"), flag: true}, r)
	require.Error(t, r.decode(good[:9]))
	for _, i := range []int{1, 2, 8} {
		bad := append([][]byte{}, good...)
		bad[i] = []byte("12")
		require.Error(t, r.decode(bad), i)
	}
}

func TestProgressIsPacedByTheClock(t *testing.T) {
	t.Parallel()
	var now time.Time
	var told []int64
	p := progress{clock: func() time.Time { return now }}
	p.w = writer(func() { told = append(told, p.done) })
	p.start("swing", 0)
	for range 6 * 4096 {
		p.step()
		if p.done%4096 == 0 {
			now = now.Add(time.Second)
		}
	}
	require.Equal(t, []int64{0, 3 * 4096, 5 * 4096}, told)
}

type writer func()

func (w writer) Write(b []byte) (int, error) {
	w()
	return len(b), nil
}

// The session itself refuses to write, whatever statement comes.
func TestTheSessionCannotWrite(t *testing.T) {
	t.Parallel()
	conn, err := connect(t.Context(), testdb.URL(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	var refused *pgconn.PgError
	for _, begin := range []string{"", "BEGIN; "} {
		_, err = conn.Exec(t.Context(), begin+"CREATE TABLE t ()", pgx.QueryExecModeSimpleProtocol)
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "25006", refused.Code)
	}
}
