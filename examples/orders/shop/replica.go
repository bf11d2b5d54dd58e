package shop

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// atLeast is the version that a reader has seen already, as the ETag of its last
// answer told it: ?version=3. It is 0 without one.
func atLeast(r *http.Request) (int64, error) {
	text := r.URL.Query().Get("version")
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return 0, &FieldError{"version", "is not a version, such as 3"}
	}
	return version, nil
}

// readOrder reads an order for someone who looks at it. A replica may be behind:
// what it does not have yet, or not in the version that the reader has seen, is
// read from the primary, and so is everything while the replica is away. Calls
// never come here: their statements judge the primary's own row.
func (s *Service) readOrder(ctx context.Context, key order.Key, version int64) (order.Row, error) {
	if s.replica != nil {
		row, err := order.Get(ctx, s.replica, key)
		if err == nil && row.Version >= version {
			return row, nil
		}
		if err != nil && !errors.Is(err, fsm.ErrNotFound) && ctx.Err() == nil {
			s.log.WarnContext(ctx, "the replica cannot be read", "error", err)
		}
	}
	return order.Get(ctx, s.pool, key)
}
