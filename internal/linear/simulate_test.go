package linear_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/linear"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// simulation makes histories that can be true: of clients who call at once, each
// answered by the oracle at a moment between the beginning and the end of its call.
type simulation struct {
	m              *model.Machine
	rand           *rand.Rand
	rows, clients  int
	calls          int
	unknown, mixed float64 // parts of the calls: of unknown outcome, with a payment of another row
}

type moment struct {
	at int64
	do func()
}

// write writes the history. Each answer passes through change.
func (s simulation) write(t testing.TB, w io.Writer, change func(n int, back map[string]any)) {
	t.Helper()
	j := evaluate.For(s.m)
	worlds := map[int]oracle.World{} // by the payment numbers that rows have in common
	out := bufio.NewWriter(w)
	encode := json.NewEncoder(out)
	say := func(l map[string]any) { require.NoError(t, encode.Encode(l)) }
	free := make([]int64, s.clients)
	var moments []moment
	flush := func(until int64) {
		slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
		n := 0
		for n < len(moments) && moments[n].at <= until {
			moments[n].do()
			n++
		}
		moments = slices.Delete(moments, 0, n)
	}
	for n := range s.calls {
		client := n % s.clients
		row := s.rand.IntN(s.rows)
		group := row / 2
		key := fmt.Sprintf("00000000-0000-4000-8000-%012x", row)
		id := strconv.Itoa(n)
		from := free[client] + 1 + s.rand.Int64N(50)
		at := from + s.rand.Int64N(50)
		to := at + s.rand.Int64N(50)
		free[client] = to
		lost := s.rand.Float64() < s.unknown
		never := lost && s.rand.IntN(2) == 0
		call := map[string]any{"type": "call", "id": id, "at": from * 1000, "client": "c" + strconv.Itoa(client), "machine": s.m.Name, "key": key}
		back := map[string]any{"type": "return", "id": id, "at": to*1000 + 1}
		make := s.pick(call, key, group)
		moments = append(moments,
			moment{from, func() { say(call) }},
			moment{at, func() {
				if never {
					return
				}
				next, a, err := make(worlds[group], j)
				require.NoError(t, err)
				worlds[group] = next
				if a.Outcome == oracle.NotFound {
					back["error"] = "not found"
					return
				}
				back["outcome"], back["state"], back["version"] = a.Outcome, a.State, a.Version
				back["transition"] = map[string]any{"event": a.Made.Event, "outcome": a.Made.Outcome, "from": a.Made.From, "to": a.Made.To, "version": a.Made.Version}
			}},
			moment{to, func() {
				if lost {
					back = map[string]any{"type": "return", "id": id, "at": to*1000 + 1, "error": "unknown"}
				}
				if change != nil {
					change(n, back)
				}
				say(back)
			}})
		if n%1000 == 0 {
			flush(slices.Min(free))
		}
	}
	flush(1 << 60)
	require.NoError(t, out.Flush())
}

// pick chooses an event, most of which get an order on.
func (s simulation) pick(call map[string]any, key string, group int) func(oracle.World, oracle.Judge) (oracle.World, oracle.Answer, error) {
	if s.rand.IntN(10) == 0 {
		call["event"] = "create"
		params := oracle.Values{"customer_id": "c", "sku": "tea", "quantity": int32(1), "total_cents": int64(100)}
		call["params"] = params
		return func(w oracle.World, j oracle.Judge) (oracle.World, oracle.Answer, error) {
			return w.Create(s.m, j, key, params, time.Now())
		}
	}
	e := s.m.Events[s.rand.IntN(len(s.m.Events))]
	params := oracle.Values{}
	for _, p := range e.Params {
		switch {
		case p.Type.Kind == model.KindInt64:
			params[p.Name] = []int64{100, 100, 60, 40, 99}[s.rand.IntN(5)]
		case s.rand.Float64() < s.mixed:
			params[p.Name] = fmt.Sprintf("G%d-%d", group, s.rand.IntN(3))
		default:
			params[p.Name] = fmt.Sprintf("%s-%d", key, s.rand.IntN(3))
		}
	}
	c := oracle.Call{Event: e, Key: key, Params: params, Now: time.Now()}
	call["event"], call["params"] = e.Name, params
	if s.rand.IntN(10) == 0 {
		c.Version = 1 + s.rand.Int64N(4)
		call["expect"] = c.Version
	}
	return func(w oracle.World, j oracle.Judge) (oracle.World, oracle.Answer, error) { return w.Call(s.m, j, c) }
}

// A history that the oracle made is accepted, whatever was lost and whoever called at once.
func TestHistoriesOfTheOracleAreAccepted(t *testing.T) {
	t.Parallel()
	m := order(t)
	for seed := range uint64(30) {
		s := simulation{m: m, rand: rand.New(rand.NewPCG(seed, 7)), rows: 1 + int(seed%5), clients: 1 + int(seed%7), calls: 120, unknown: float64(seed%3) / 20, mixed: float64(seed%4) / 10}
		var b bytes.Buffer
		s.write(t, &b, nil)
		v, err := checked(m, b.Bytes(), linear.Options{})
		require.NoError(t, err)
		require.Equal(t, linear.Accepted, v.Result(), "seed %d: %s", seed, v.Findings())
	}
}

// Of one client after another nothing can be in two orders: any change of an answer
// is refused.
func TestOneChangedAnswerIsRefused(t *testing.T) {
	t.Parallel()
	m := order(t)
	for seed := range uint64(80) {
		pick := rand.New(rand.NewPCG(seed, 9))
		at := pick.IntN(60)
		said := ""
		s := simulation{m: m, rand: rand.New(rand.NewPCG(seed, 8)), rows: 2, clients: 1, calls: 60, mixed: 0.2}
		var b bytes.Buffer
		s.write(t, &b, func(n int, back map[string]any) {
			if n == at {
				said = lie(pick, back)
			}
		})
		v, err := checked(m, b.Bytes(), linear.Options{})
		var bad *linear.HistoryError
		if err != nil {
			require.ErrorAs(t, err, &bad, said) // the first answer of a row that nobody created
			continue
		}
		require.Equal(t, linear.Refused, v.Result(), "seed %d, answer %d: %s", seed, at, said)
	}
}

// lie changes what an answer says.
func lie(pick *rand.Rand, back map[string]any) string {
	before := fmt.Sprint(back)
	if back["error"] != nil {
		delete(back, "error")
		back["outcome"], back["state"], back["version"] = "Rejected", "PENDING", 1
		return before + " became " + fmt.Sprint(back)
	}
	made := back["transition"].(map[string]any)
	switch pick.IntN(5) {
	case 0:
		back["version"] = back["version"].(int64) + 1
	case 1:
		back["state"] = other(fmt.Sprint(back["state"]), "PAID", "PENDING")
	case 2:
		back["outcome"] = other(fmt.Sprint(back["outcome"]), "Applied", "Ignored")
	case 3:
		made["from"] = other(fmt.Sprint(made["from"]), "PAID", "PENDING")
	default:
		made["version"] = made["version"].(int64) + 1
	}
	return before + " became " + fmt.Sprint(back)
}

func other(is string, words ...string) string {
	return words[slices.IndexFunc(words, func(w string) bool { return w != is })]
}

// BenchmarkMillion checks a million calls: go test -bench Million -benchtime 1x.
func BenchmarkMillion(b *testing.B) {
	m := order(b)
	path := b.TempDir() + "/h.jsonl"
	f, err := os.Create(path)
	require.NoError(b, err)
	simulation{m: m, rand: rand.New(rand.NewPCG(1, 1)), rows: millions(b) * 60 / 1000, clients: 64, calls: millions(b), unknown: 0.005, mixed: 0.02}.write(b, f, nil)
	require.NoError(b, f.Close())
	for b.Loop() {
		f, err := os.Open(path)
		require.NoError(b, err)
		began := time.Now()
		h, err := linear.NewHistory(m)
		require.NoError(b, err)
		require.NoError(b, h.Read(f, path))
		read := time.Since(began)
		v, err := linear.Check(b.Context(), h, linear.Options{})
		require.NoError(b, err)
		require.Equal(b, linear.Accepted, v.Result(), "%s", v.Findings())
		b.ReportMetric(read.Seconds(), "s/read")
		b.ReportMetric((time.Since(began) - read).Seconds(), "s/check")
		b.Log(v.Summary())
		require.NoError(b, f.Close())
	}
}

// millions is how many calls the benchmark checks; PAWL_CALLS says another number.
func millions(b *testing.B) int {
	text := os.Getenv("PAWL_CALLS")
	if text == "" {
		return 1_000_000
	}
	n, err := strconv.Atoi(text)
	require.NoError(b, err)
	return n
}
