package studio

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A file that is half written is seen, and not taken; the whole one is taken when two
// looks have found it the same.
func TestAFileIsTakenWhenItIsNoLongerWritten(t *testing.T) {
	t.Parallel()
	const half = "machine: lamp\ndescribe: A la"
	const whole = half + "mp\nstates:\n  \"OFF\": {initial: true}\n  \"ON\": {}\nevents:\n  press: {}\ntransitions:\n  - {event: press, from: \"OFF\", to: \"ON\"}\n  - {event: press, from: \"ON\", to: \"OFF\"}\n"
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "definitions"), 0o755))
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "definitions", "lamp.yaml"), []byte(text), 0o644))
	}
	write(whole + "# before\n")
	s, err := New(t.Context(), Options{Root: dir, Paths: []string{"definitions"}, Log: io.Discard, Addr: "127.0.0.1:0", Ticks: make(chan time.Time)})
	require.NoError(t, err)
	defer s.Close()
	first := s.now.Load()
	w := &watcher{s, first.listing, first.listing}
	look := func() *snapshot {
		w.look(t.Context())
		return s.now.Load()
	}

	require.Same(t, first, look(), "nothing has changed")
	write(half)
	require.Same(t, first, look(), "half a file, for the first time")
	write(whole)
	require.Same(t, first, look(), "the whole file, for the first time")
	second := look()
	require.NotEqual(t, first.version, second.version)
	require.False(t, second.machines[0].Earlier)
	require.Same(t, second, look())

	write(half)
	require.Same(t, second, look())
	third := look()
	require.True(t, third.machines[0].Earlier, "half a file that nobody goes on with")
}
