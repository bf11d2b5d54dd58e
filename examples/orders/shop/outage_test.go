package shop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/relay"
)

// noted is a service that has a log and a clock, and nothing else.
func noted() (s *Service, log *bytes.Buffer, now *time.Time) {
	log, now = &bytes.Buffer{}, &time.Time{}
	*now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	plain := slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	return &Service{log: slog.New(plain), clock: func() time.Time { return *now }}, log, now
}

func swept(event string, err error) error {
	return &fsm.CallError{Machine: "order", Event: event, Kind: fsm.ErrNothingDone, Err: err}
}

// 41 seconds without a database, in which three parts fail each second, and each of
// them for many events: three lines.
func TestAnOutageIsThreeLines(t *testing.T) {
	t.Parallel()
	s, log, now := noted()
	refused := &pgconn.PgError{Severity: "FATAL", Code: "57P03", Message: "the database system is starting up"}
	for range 41 {
		s.Failed("a sweep failed", errors.Join(swept("expire", refused), errors.Join(swept("receive", refused), swept("query", refused))))
		s.failed(slog.LevelWarn, "the relay could not deliver", fmt.Errorf("relay: %w", refused))
		mark := s.outage.mark()
		s.Failed("refund calls could not be driven", context.DeadlineExceeded)
		s.reached(mark) // of a round that began before: says nothing
		*now = now.Add(time.Second)
	}
	s.reached(s.outage.mark())
	s.reached(s.outage.mark()) // once
	require.Equal(t, []string{
		`level=ERROR msg="the database is away" seen_by="a sweep failed" error="FATAL: the database system is starting up (SQLSTATE 57P03)"`,
		`level=ERROR msg="the database is still away" for=30s failures=91 seen_by="a sweep failed" error="FATAL: the database system is starting up (SQLSTATE 57P03)"`,
		`level=INFO msg="the database is back" after=41s failures=123`,
	}, strings.Split(strings.TrimSpace(log.String()), "\n"))

	// One that comes and goes is told of every 30 s, and its end with it.
	log.Reset()
	for range 61 {
		s.Failed("the relay could not deliver", context.DeadlineExceeded)
		*now = now.Add(time.Second)
		s.reached(s.outage.mark())
	}
	require.Equal(t, 2, strings.Count(log.String(), `msg="the database is away"`), log.String())
	require.Equal(t, 2, strings.Count(log.String(), `msg="the database is back" after=1s failures=1`), log.String())
}

// What is no outage is told each time, with each cause once, also beside one.
func TestWhatIsNoOutageIsTold(t *testing.T) {
	t.Parallel()
	s, log, _ := noted()
	check := &pgconn.PgError{Severity: "ERROR", Code: "23514", Message: "violates a check"}
	gone := &pgconn.PgError{Severity: "FATAL", Code: "57P01", Message: "terminated"}
	for range 2 {
		log.Reset()
		s.Failed("a sweep failed", errors.Join(swept("expire", check), swept("receive", gone), swept("query", check), swept("ship", errors.New("other"))))
		require.Contains(t, log.String(),
			`level=ERROR msg="a sweep failed" error="order expire: nothing was done: ERROR: violates a check (SQLSTATE 23514) (and 1 more alike); order ship: nothing was done: other"`)
	}
	// A message that was not taken has a line of its own, whatever the reason.
	log.Reset()
	s.failed(slog.LevelWarn, "the relay could not deliver", &relay.PublishError{Err: context.DeadlineExceeded})
	require.Contains(t, log.String(), `level=WARN msg="the relay could not deliver" error="relay: `)
	// Nor is a text around several errors taken for a list.
	log.Reset()
	s.Failed("a sweep failed", fmt.Errorf("both: %w, %w", check, errors.New("other")))
	require.Contains(t, log.String(), "both: ")
}

// A statement that ran into its own limit, and one that lost a race, were answered.
func TestWhoAnswersIsNotAway(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"57014", "40001", "42P01", "55P03"} {
		require.False(t, away(&pgconn.PgError{Severity: "ERROR", Code: code}), code)
	}
}

// The sweeper, which asks each second, is who sees that the database is back: by a
// round in which nothing failed, not by one in which something did.
func TestTheSweeperSeesTheDatabaseComeBack(t *testing.T) {
	t.Parallel()
	s, log, now := noted()
	ctx, stop := context.WithCancel(t.Context())
	rounds := 0
	sweep := func(context.Context, fsm.DB, fsm.SweepPage) ([]fsm.Swept, error) {
		rounds++
		*now = now.Add(10 * time.Second)
		switch rounds {
		case 1, 2:
			return nil, swept("expire", &pgconn.PgError{Severity: "FATAL", Code: "57P03"})
		case 3: // while others fail
			s.Failed("the relay could not deliver", context.DeadlineExceeded)
		case 5:
			stop()
		}
		return nil, nil
	}
	sweeper := s.heardSweeper(&fsm.Sweeper{
		Sweeps: []fsm.Sweep{sweep}, Every: time.Nanosecond, Swept: func([]fsm.Swept) {},
		Failed: func(err error) { s.Failed("a sweep failed", err) },
	})
	require.ErrorIs(t, sweeper.Run(ctx), context.Canceled)
	require.Equal(t, 5, rounds)
	require.Equal(t, 2, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), `level=ERROR msg="the database is away"`)
	require.Contains(t, log.String(), `level=INFO msg="the database is back" after=30s failures=3`)
}
