package shop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/relay"
)

// sayAgain is how often the log says that the database is still away.
const sayAgain = 30 * time.Second

// outage keeps the log short while the database is away, when everything that works
// in the background fails each second: it says so at once, now and then, and when it
// is over. It is safe for concurrent use.
type outage struct {
	mu     sync.Mutex
	since  time.Time // zero while the database is not known to be away
	told   time.Time // when it was last said, of this outage or one before
	said   bool      // of this one
	failed int       // failures of this one
	count  uint64    // of all
}

// note counts a failure, and says what the log is to be told, "" for nothing.
func (o *outage) note(now time.Time) (message string, attrs []any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count++
	o.failed++
	first := o.since.IsZero()
	if first {
		o.since = now
	}
	if !o.told.IsZero() && now.Sub(o.told) < sayAgain {
		return "", nil
	}
	o.told, o.said = now, true
	if first {
		return "the database is away", nil
	}
	return "the database is still away", []any{"for", now.Sub(o.since).Round(time.Second), "failures", o.failed}
}

// mark is the number of failures until now, for over.
func (o *outage) mark() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count
}

// over ends an outage, unless something has failed since mark. It returns how long it
// was, in a line of the log, nil when there was none, or none that was told of.
func (o *outage) over(now time.Time, mark uint64) (attrs []any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || o.count != mark {
		return nil
	}
	if o.said {
		attrs = []any{"after", now.Sub(o.since).Round(time.Second), "failures", o.failed}
	}
	o.since, o.said, o.failed = time.Time{}, false, 0
	return attrs
}

// away reports whether err says no more than that the database cannot be reached, or
// does not answer.
func away(err error) bool {
	var refused *pgconn.PgError
	var message *relay.PublishError
	var network *net.OpError
	switch {
	case errors.As(err, &message): // each has a line
		return false
	case errors.As(err, &refused):
		switch refused.Code {
		case "57P01", "57P02", "57P03": // shut down, crashed, not ready yet
			return true
		}
		return unreachable(err)
	case unreachable(err), errors.As(err, &network), errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	}
	return pgconn.SafeToRetry(err) // nothing was sent: the connection was closed before
}

// Failed logs what work in the background could not do, in one line. While the database
// is away there is one line for all that fails so, and another one every 30 s. It is
// for what a program has beside the service, too.
func (s *Service) Failed(what string, err error) { s.failed(slog.LevelError, what, err) }

func (s *Service) failed(level slog.Level, what string, err error) {
	ctx := context.Background()
	var rest []error
	gone := error(nil)
	for _, one := range parts(err) {
		if away(one) {
			gone = one
		} else {
			rest = append(rest, one)
		}
	}
	if gone != nil {
		if message, attrs := s.outage.note(s.now()); message != "" {
			s.log.Log(ctx, slog.LevelError, message, append(attrs, "seen_by", what, "error", cause(gone))...)
		}
	}
	if len(rest) > 0 {
		s.log.Log(ctx, level, what, "error", inBrief(rest))
	}
}

// parts are the errors that were joined, each by itself.
func parts(err error) []error {
	joined, is := err.(interface{ Unwrap() []error }) //nolint:errorlint // a join itself, not one that is wrapped
	if !is {
		return []error{err}
	}
	all := joined.Unwrap()
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.Error()
	}
	if strings.Join(texts, "\n") != err.Error() { // it says more than that
		return []error{err}
	}
	var out []error
	for _, one := range all {
		out = append(out, parts(one)...)
	}
	return out
}

// cause is what was wrong, whichever call it was told to.
func cause(err error) error {
	var call *fsm.CallError
	if errors.As(err, &call) && call.Err != nil {
		return call.Err
	}
	return err
}

// inBrief has each cause once, with the first that it was told to.
func inBrief(all []error) string {
	var texts []string
	more := map[string]int{}
	first := map[string]int{}
	for _, err := range all {
		why := cause(err).Error()
		if _, known := first[why]; known {
			more[why]++
			continue
		}
		first[why] = len(texts)
		texts = append(texts, err.Error())
	}
	for why, n := range more {
		texts[first[why]] += fmt.Sprintf(" (and %d more alike)", n)
	}
	return strings.Join(texts, "; ")
}
