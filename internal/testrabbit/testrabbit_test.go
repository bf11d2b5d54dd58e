package testrabbit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServer(t *testing.T) {
	t.Parallel()
	var addr string
	started := t.Run("run", func(t *testing.T) {
		addr = Start(t).Addr
		require.NoError(t, greet(addr))
	})
	if started && addr != "" {
		require.Error(t, greet(addr), "it ended with its test")
	}
}
