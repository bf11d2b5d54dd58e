package relay

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Each draw lies in the upper half of its bound.
func TestPauses(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for idle, most := range map[int]time.Duration{
		-1: 10 * ms, 0: 10 * ms, 1: 20 * ms, 2: 40 * ms, 3: 83333333, 4: 166666666, 5: 333333333, 6: 1000 * ms, 7: 1000 * ms, 1 << 40: 1000 * ms,
	} {
		for range 100 {
			d := pause(time.Second, idle)
			require.LessOrEqual(t, d, most, idle)
			require.GreaterOrEqual(t, d, most/2, idle)
		}
	}
	require.Zero(t, jitter(0))
	require.EqualValues(t, 1, jitter(1))
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for tries, most := range map[int]time.Duration{
		-1: time.Second, 0: time.Second, 1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second,
		9: 256 * time.Second, 10: 5 * time.Minute, 1 << 40: 5 * time.Minute,
	} {
		for range 100 {
			d := backoff(tries)
			require.LessOrEqual(t, d, most, tries)
			require.GreaterOrEqual(t, d, most/2, tries)
		}
	}
}

// The wants are of an implementation in another language, by the doc comment.
func TestIdentify(t *testing.T) {
	t.Parallel()
	m := Message{
		Row: 7, Machine: "order", Key: "00000000-0000-4000-8000-000000000001", Version: 3, Event: "payment_succeeded", Topic: "order_paid",
		At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
	}
	require.Equal(t, "f6025764-03db-899f-8ae1-1cb55e6988a4", m.Identify())
	require.Equal(t, "ea60c42e-f917-8b99-a5e5-4024fcb723b3", Message{Row: 1, Machine: "größe", Version: 1, At: time.Unix(0, 0)}.Identify())
	m.Payload = []byte("{}")
	m.At = m.At.In(time.FixedZone("", 7200))
	require.Equal(t, "f6025764-03db-899f-8ae1-1cb55e6988a4", m.Identify())
	for name, change := range map[string]func(*Message){
		"row": func(m *Message) { m.Row++ }, "machine": func(m *Message) { m.Machine += "x" }, "key": func(m *Message) { m.Key += "x" },
		"version": func(m *Message) { m.Version++ }, "event": func(m *Message) { m.Event += "x" }, "topic": func(m *Message) { m.Topic += "x" },
		"at": func(m *Message) { m.At = m.At.Add(time.Microsecond) },
	} {
		other := m
		change(&other)
		require.NotEqual(t, m.Identify(), other.Identify(), name)
	}
}

func TestStorable(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a\uFFFDb\uFFFD", storable(errors.New("a\x00b\xff")))
	long := storable(errors.New(strings.Repeat("é", 5000)))
	require.True(t, utf8.ValidString(long))
	require.LessOrEqual(t, len(long), maxErrorText)
	long = storable(errors.New("x" + strings.Repeat("é", 5000)))
	require.True(t, utf8.ValidString(long))
	require.Len(t, long, maxErrorText-1)
}
