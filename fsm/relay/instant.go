package relay

import (
	"math"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// instant reads a timestamptz, of which PostgreSQL has two more than Go:
// infinity and -infinity, which become the ends of what Go's nanoseconds count.
// A row that holds one must not stop the relay.
type instant time.Time

// ScanTimestamptz takes the database's value.
func (i *instant) ScanTimestamptz(v pgtype.Timestamptz) error {
	switch v.InfinityModifier {
	case pgtype.Infinity:
		*i = instant(time.Unix(0, math.MaxInt64).UTC())
	case pgtype.NegativeInfinity:
		*i = instant(time.Unix(0, math.MinInt64).UTC())
	default:
		*i = instant(v.Time.UTC())
	}
	return nil
}
