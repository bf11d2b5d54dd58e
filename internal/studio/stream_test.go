package studio

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// begun are streams with a source that tells when it begins and ends.
func begun(t *testing.T) (s *streams, begins, ends chan string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	s = newStreams(ctx, &done)
	begins, ends = make(chan string), make(chan string)
	s.source("live:", func(ctx context.Context, topic string) {
		begins <- topic
		<-ctx.Done()
		ends <- topic
	})
	return s, begins, ends, func() { cancel(); done.Wait() }
}

// A source runs as long as somebody listens to its topic, once for all of them.
func TestASourceRunsWhileSomebodyListens(t *testing.T) {
	t.Parallel()
	s, begins, ends, stop := begun(t)
	first := s.join([]string{"live:order", "other"})
	require.Equal(t, "live:order", <-begins)
	second := s.join([]string{"live:order"})
	third := s.join([]string{"live:refund"})
	require.Equal(t, "live:refund", <-begins)

	s.publish(message{"live:order", "figures", "1"})
	s.publish(message{"", "changed", "2"})
	require.Equal(t, message{"live:order", "figures", "1"}, <-first.queue)
	require.Equal(t, message{"live:order", "figures", "1"}, <-second.queue)
	require.Equal(t, message{"", "changed", "2"}, <-third.queue, "it hears what is for all, and nothing of others")

	s.leave(first)
	s.leave(third)
	require.Equal(t, "live:refund", <-ends, "the one of order runs on")
	s.leave(second)
	require.Equal(t, "live:order", <-ends)
	again := s.join([]string{"live:order"})
	require.Equal(t, "live:order", <-begins)
	go func() { require.Equal(t, "live:order", <-ends) }()
	stop()
	s.leave(again)
	require.Nil(t, s.join(nil), "all has ended")
}

func TestAPageThatReadsTooSlowlyHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s, _, _, stop := begun(t)
	defer stop()
	slow := s.join(nil)
	for range waiting + 10 {
		s.publish(message{"", "changed", "x"})
	}
	require.Len(t, slow.queue, waiting)
	s.leave(slow)
}

func TestThereIsAnEndToStreamsAndTopics(t *testing.T) {
	t.Parallel()
	s, _, _, stop := begun(t)
	defer stop()
	for range mostStreams {
		require.NotNil(t, s.join(nil))
	}
	require.Nil(t, s.join(nil))
	require.Equal(t, []string{"a", "b"}, unique([]string{"a", "", "b", "a", strings.Repeat("x", 301)}))
}

// What went wrong on our side is told, and no password with it.
func TestAFaultTellsNoPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "definitions"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "definitions", "a.yaml"), []byte("machine: a\n"), 0o644))
	var log strings.Builder
	s, err := New(t.Context(), Options{Root: dir, Paths: []string{"definitions"}, Addr: "127.0.0.1:1", Ticks: make(chan time.Time), Log: &log})
	require.NoError(t, err)
	defer s.Close()
	for _, text := range []string{
		"cannot reach postgres://shop:geheim@db.example:5432/shop?sslmode=disable", "postgres://shop:ge@heim@db.example/x",
		"cannot parse `host=db.example password=geheim user=shop`", "password = 'ge heim' host=db.example", "POSTGRESQL://u:geheim@db.example",
	} {
		log.Reset()
		w := httptest.NewRecorder()
		s.visited(func(*visit) error { return errors.New(text) }).ServeHTTP(w, httptest.NewRequest("GET", "/x", nil))
		require.Equal(t, 500, w.Code)
		require.Contains(t, w.Body.String(), "Something went wrong")
		require.Contains(t, w.Body.String(), "db.example")
		for _, shown := range []string{w.Body.String(), log.String()} {
			require.NotContains(t, shown, "heim", text)
		}
		require.Contains(t, log.String(), "fsmgen studio: /x: ")
	}
}
