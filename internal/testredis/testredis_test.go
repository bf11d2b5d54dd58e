package testredis

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServer(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Flush()
	s.Kill()
	_, err := s.ask("PING")
	require.Error(t, err)
	s.Restart()
	s.Pause()
	_, err = s.ask("PING")
	require.Error(t, err, "a paused server answers nothing")
	s.Resume()
	answer, err := s.ask("PING")
	require.NoError(t, err)
	require.Equal(t, "+PONG\r\n", answer)
}
