package fsm

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// stream is what a server sends.
func stream(t *testing.T, sent ...pgproto3.BackendMessage) []byte {
	t.Helper()
	var all []byte
	for _, m := range sent {
		var err error
		all, err = m.Encode(all)
		require.NoError(t, err)
	}
	return all
}

// warning is one of a function's, in the server's language.
func warning(routine, message string) *pgproto3.NoticeResponse {
	return &pgproto3.NoticeResponse{Severity: "警告", SeverityUnlocalized: "WARNING", Code: "01000", Message: message, File: "syncrep.c", Line: 1, Routine: routine}
}

// However a server's messages are cut into reads, the frontend gets all of them, and an
// error in the place of the one warning.
func TestACancelledWaitIsAnError(t *testing.T) {
	t.Parallel()
	const waited = "SyncRepWaitForLSN"
	long := bytes.Repeat([]byte{'N'}, 70_000)
	sent := []pgproto3.BackendMessage{
		&pgproto3.BindComplete{},
		&pgproto3.DataRow{Values: [][]byte{long}},
		warning("exec_stmt_raise", waited),
		warning("exec_stmt_raise", string(long)),
		&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")},
		warning(waited, "等待"),
		&pgproto3.ReadyForQuery{TxStatus: 'I'},
		warning(waited, ""),
	}
	for name, cut := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "bytes": iotest.OneByteReader, "with the error": iotest.DataErrReader,
	} {
		var config pgconn.Config
		WatchSyncWaits(&config)
		frontend := config.BuildFrontend(cut(bytes.NewReader(stream(t, sent...))), io.Discard)
		for i, want := range sent {
			got, err := frontend.Receive()
			require.NoError(t, err, name)
			if notice, ok := want.(*pgproto3.NoticeResponse); ok && notice.Routine == waited {
				refused := pgproto3.ErrorResponse(*notice)
				refused.Code = "40003"
				want = &refused
			}
			require.Equal(t, stream(t, want), stream(t, got), "%s: message %d", name, i)
		}
		_, err := frontend.Receive()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
	}
}

// What is no message, and a read that fails, are for the frontend to judge as before.
func TestWatchingKeepsTheFrontend(t *testing.T) {
	t.Parallel()
	built := 0
	config := pgconn.Config{BuildFrontend: func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		built++
		return pgproto3.NewFrontend(r, w)
	}}
	WatchSyncWaits(&config)
	broken := errors.New("broken")
	_, err := config.BuildFrontend(iotest.ErrReader(broken), io.Discard).Receive()
	require.ErrorIs(t, err, broken)
	require.Equal(t, 1, built)
	for _, bad := range []string{"N\x00\x00\x00\x00", "N\xff\xff\xff\xff", "Z\x00\x00\x00\x03", "N\x00\x00\x00\x06C4", "N"} {
		_, err = config.BuildFrontend(bytes.NewReader([]byte(bad)), io.Discard).Receive()
		require.Error(t, err, "%q", bad)
	}
	n, err := (&syncWaitReader{from: bytes.NewReader([]byte("x"))}).Read(nil)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestACancelledWaitIsUnknown(t *testing.T) {
	t.Parallel()
	err := &pgconn.PgError{Severity: "警告", SeverityUnlocalized: "WARNING", Code: completionUnknown}
	require.Equal(t, ErrUnknown, kindOf(err))
	require.False(t, Retryable(err))
}
