package randommachine

import (
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-go/pawl/internal/model"
)

// UUIDs are those that values are drawn from, as PostgreSQL writes them.
var UUIDs = []string{
	"123e4567-e89b-42d3-a456-426614174000", "00000000-0000-0000-0000-000000000000",
	"ffffffff-ffff-4fff-bfff-ffffffffffff", "123e4567-e89b-42d3-a456-426614174001",
}

// Start is when calls begin.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Value draws a value of a type, from few so that many are equal, and the bounds of
// the type among them. It is a string for text, uuid, numeric, date and jsonb, an
// int64 for the integers, or bool, float64, time.Time or []byte.
func Value(t *rapid.T, of model.Type, label string) any {
	switch of.Kind {
	case model.KindInt16:
		return whole(t, label, math.MinInt16, math.MaxInt16)
	case model.KindInt32:
		return whole(t, label, math.MinInt32, math.MaxInt32)
	case model.KindInt64:
		return whole(t, label, math.MinInt64, math.MaxInt64)
	case model.KindBool:
		return rapid.Bool().Draw(t, label)
	case model.KindText:
		if of.Length > 0 && chance(t, label+" too long", 3) {
			return one(t, label, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a                               ")
		}
		fitting := slices.DeleteFunc(slices.Clone(Texts), func(s string) bool { return of.Length > 0 && len([]rune(s)) > of.Length })
		return one(t, label, fitting...)
	case model.KindUUID:
		return one(t, label, UUIDs...)
	case model.KindNumeric:
		if chance(t, label+" bound", 4) {
			return one(t, label, "9999.99", "-9999.99", "9999.995", "0.005", "123456789012345678901234567890.5")
		}
		return one(t, label, "0", "1", "1.5", "-2.25", "3", "7", "100")
	case model.KindFloat64:
		return one(t, label, 0.0, 0.5, -2.25, 3.0, 1e300)
	case model.KindTime:
		return Start.Add(one(t, label, 0, time.Hour, -time.Hour, 24*time.Hour, 30*24*time.Hour, time.Microsecond))
	case model.KindDate:
		return one(t, label, "2026-01-01", "2024-02-29", "1969-12-31", "2026-12-31")
	case model.KindJSON:
		return one(t, label, `{"a": 1}`, `[]`, `"x"`)
	}
	return []byte(one(t, label, "", "\x00\xff", "abc"))
}

func whole(t *rapid.T, label string, lowest, highest int64) int64 {
	if chance(t, label+" bound", 4) {
		return one(t, label, lowest, highest, lowest+1, highest-1)
	}
	return int64(rapid.IntRange(-2, 9).Draw(t, label))
}
