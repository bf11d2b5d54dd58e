package fsm

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// unsent is an error of a statement that never left, in the way pgconn says it.
type unsent struct{ error }

func (unsent) SafeToRetry() bool { return true }

// bare is an error of a driver that shows a SQLSTATE and no severity.
type bare string

func (e bare) Error() string    { return "driver: " + string(e) }
func (e bare) SQLState() string { return string(e) }

func TestErrorKinds(t *testing.T) {
	t.Parallel()
	config, err := pgconn.ParseConfig("host=nowhere.invalid user=u database=d sslmode=disable")
	require.NoError(t, err)
	config.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"192.0.2.1"}, nil }
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) { return nil, errTest }
	_, refused := pgconn.ConnectConfig(t.Context(), config)
	var connect *pgconn.ConnectError
	require.ErrorAs(t, refused, &connect)

	for _, c := range []struct {
		name      string
		err, kind error
		retryable bool
	}{
		{"bad text", server("ERROR", "22P02"), ErrNothingDone, false},
		{"unique", server("ERROR", "23505"), ErrNothingDone, false},
		{"check", server("ERROR", "23514"), ErrNothingDone, false},
		{"no column", server("ERROR", "42703"), ErrNothingDone, false},
		{"read only", server("ERROR", "25006"), ErrNothingDone, false},
		{"raised", server("ERROR", "P0001"), ErrNothingDone, false},
		{"aborted transaction", server("ERROR", "25P02"), ErrNothingDone, false},
		{"serialization", server("ERROR", "40001"), ErrNothingDone, true},
		{"deadlock", server("ERROR", "40P01"), ErrNothingDone, true},
		{"lock timeout", server("ERROR", "55P03"), ErrNothingDone, true},
		{"completion unknown", server("ERROR", "40003"), ErrUnknown, false},
		{"recovery conflict ends the session", server("FATAL", "40001"), ErrUnknown, false},
		{"shutdown", server("FATAL", "57P01"), ErrUnknown, false},
		{"query cancelled", server("ERROR", "57014"), ErrNothingDone, false},
		{"disk full", server("ERROR", "53100"), ErrNothingDone, false},
		{"disk full at commit", server("PANIC", "53100"), ErrUnknown, false},
		{"connection", server("FATAL", "08006"), ErrUnknown, false},
		{"a foreign server's connection", server("ERROR", "08006"), ErrNothingDone, false},
		{"internal", server("ERROR", "XX000"), ErrNothingDone, false},
		{"internal panic", server("PANIC", "XX000"), ErrUnknown, false},
		{"severity in one field", &pgconn.PgError{Severity: "FATAL", Code: "53300"}, ErrUnknown, false},
		{"severity translated", &pgconn.PgError{Severity: "致命错误", Code: "57P01"}, ErrUnknown, false},
		{"severity missing", &pgconn.PgError{Code: "08006"}, ErrUnknown, false},

		{"bare unique", bare("23505"), ErrNothingDone, false},
		{"bare deadlock", bare("40P01"), ErrNothingDone, true},
		{"bare shutdown", bare("57P01"), ErrUnknown, false},
		{"bare connection", bare("08006"), ErrUnknown, false},
		{"bare nothing", bare(""), ErrUnknown, false},
		{"bare nonsense", bare("5"), ErrNothingDone, false},

		{"rolled back at commit", pgx.ErrTxCommitRollback, ErrNothingDone, false},
		{"closed", pgx.ErrTxClosed, ErrNothingDone, false},
		{"closed, database/sql", sql.ErrTxDone, ErrNothingDone, false},
		{"never connected", refused, ErrNothingDone, false},
		{"never sent", unsent{errTest}, ErrNothingDone, true},
		{"cut off", io.ErrUnexpectedEOF, ErrUnknown, false},
		{"context ended after sending", context.DeadlineExceeded, ErrUnknown, false},
		{"anything else", errTest, ErrUnknown, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, err := range []error{c.err, fmt.Errorf("wrapped: %w", c.err)} {
				require.Equal(t, c.kind, kindOf(err))
				require.Equal(t, c.retryable, Retryable(err), "as the driver gave it")
				require.Equal(t, c.retryable, Retryable(&CallError{"order", "pay", kindOf(err), err}), "as a call gives it")
			}
		})
	}
}

func TestRetryable(t *testing.T) {
	t.Parallel()
	require.False(t, Retryable(nil))
	require.True(t, Retryable(ErrContended))
	require.True(t, Retryable(fmt.Errorf("handler: %w", &CallError{"order", "pay", ErrContended, nil})))
	require.False(t, Retryable(errors.Join(server("ERROR", "40001"), ErrUnknown)), "doubt outweighs")
	for _, err := range []error{ErrNotFound, ErrArgument, ErrNothingDone, ErrUnknown, &UnknownStateError{"order", "LOST"}} {
		require.False(t, Retryable(err), err)
	}
}

func TestCallErrorText(t *testing.T) {
	t.Parallel()
	require.EqualError(t, &CallError{"order", "pay", nil, errTest}, "order pay: made by the test")
	require.EqualError(t, &CallError{"order", "pay", ErrNotFound, nil}, "order pay: no such row")
	require.EqualError(t, &CallError{"order", "pay", ErrUnknown, errTest}, "order pay: outcome is unknown: made by the test")
	require.NotErrorIs(t, &CallError{"order", "pay", nil, nil}, ErrNothingDone)
	require.NotErrorIs(t, &UnknownStateError{"order", "LOST"}, ErrUnknown)
}
