package fsm

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
)

// What PostgreSQL's jsonb_build_array(...)::text makes of the same values.
func TestKeyText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want   string
		values []any
	}{
		{`["a", 7]`, []any{"a", int64(7)}},
		{`[-32768, 2147483647, true, false]`, []any{int16(-32768), int32(2147483647), true, false}},
		{`["", "a b"]`, []any{"", "a b"}},
		{`["\"\\/", "<&>"]`, []any{`"\/`, "<&>"}},
		{`["\b\f\n\r\t\u0001\u001f"]`, []any{"\b\f\n\r\t\x01\x1f"}},
		{"[\"\x7f已支付\u2028\"]", []any{"\x7f已支付\u2028"}},
	} {
		require.Equal(t, c.want, KeyText(c.values...))
	}
}

func TestCanonicalUUID(t *testing.T) {
	t.Parallel()
	const want = "00000000-0000-4000-8000-00000000000a"
	for _, text := range []string{want, "00000000-0000-4000-8000-00000000000A", "{00000000-0000-4000-8000-00000000000A}", "0000000000004000800000000000000a"} {
		require.Equal(t, want, CanonicalUUID(text))
	}
	for _, text := range []string{"", "{", "}", "x", "{00000000-0000-4000-8000-00000000000}"} {
		require.Equal(t, text, CanonicalUUID(text), "no uuid")
	}
}

func TestDateText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2026-01-31", "2024-02-29", "0001-01-01", "9999-12-31"} {
		require.NoError(t, DateText(&EventInfo{Machine: "m", Event: "e"}, "day", text))
	}
	for _, text := range []string{"", "2026-1-31", "2026-02-29", "0000-01-01", "31.01.2026", "2026-01-31 ", "today", "infinity", "2026-01-31T00:00:00Z"} {
		err := DateText(&EventInfo{Machine: "m", Event: "e"}, "day", text)
		require.ErrorIs(t, err, ErrArgument, text)
		require.ErrorContains(t, err, "day is no date")
	}
}

func TestDateOf(t *testing.T) {
	t.Parallel()
	day := func(y int, m time.Month, d int) pgtype.Date {
		return pgtype.Date{Time: time.Date(y, m, d, 0, 0, 0, 0, time.UTC), Valid: true}
	}
	for want, d := range map[string]pgtype.Date{
		"2026-01-31": day(2026, 1, 31), "0001-02-03": day(1, 2, 3), "12026-01-31": day(12026, 1, 31), "0044-03-15 BC": day(-43, 3, 15),
		"infinity": {InfinityModifier: pgtype.Infinity, Valid: true}, "-infinity": {InfinityModifier: pgtype.NegativeInfinity, Valid: true}, "": {},
	} {
		require.Equal(t, want, DateOf(d))
	}
}

func TestUnknownWordError(t *testing.T) {
	t.Parallel()
	err := error(&UnknownWordError{"order", "alipay", "TRADE\n"})
	require.ErrorIs(t, err, ErrUnknownWord)
	require.NotErrorIs(t, err, ErrNothingDone)
	require.Equal(t, `order: alipay has no word "TRADE\n"`, err.Error())
}
