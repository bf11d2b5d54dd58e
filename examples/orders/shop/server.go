package shop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of connections, so that a slow or silent caller holds nothing for long.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 32 << 10
)

// Serve answers requests on l, sweeps deadlines, relays the outbox, settles what
// waits in the inbox, drives provider calls and forgets what is old, until ctx ends.
// Then it takes no more connections, lets the requests that it has finish for up to grace, and returns
// when all of that is done: nil after a quiet end, an error when requests had to be
// cut off or l failed. A request that was cut off
// may have taken effect; the same again is safe. From the end of ctx on the service is
// not ready. Serve closes l.
func (s *Service) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	ctx = s.observed(ctx)
	// Requests do not end with ctx, but with the grace.
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      readTimeout + s.timeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	sweeping, stopSweeping := context.WithCancel(ctx)
	var work sync.WaitGroup
	sweeper, relay := s.heardSweeper(s.Sweeper()), s.heardRelay(s.Relay())
	work.Go(func() { _ = sweeper.Run(sweeping) }) // it ends by its context alone
	work.Go(func() { s.sweepOld(sweeping) })
	work.Go(func() { _ = relay.Run(sweeping) }) // so does this
	work.Go(func() { s.calls.run(sweeping) })
	if retry := s.Retry(); retry != nil {
		work.Go(func() { _ = retry.Run(sweeping) }) // and this
	}
	defer func() {
		stopSweeping()
		work.Wait()
	}()

	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	waiting, stop := context.WithTimeout(requests, grace)
	defer stop()
	if err := server.Shutdown(waiting); err != nil {
		cut()
		return errors.Join(fmt.Errorf("requests were cut off after %s: %w", grace, err), server.Close())
	}
	return nil
}

// oldEvery is the pause between sweeps of what is kept for days.
const oldEvery = 5 * time.Minute

// sweepOld sweeps commands, what was delivered and the inbox, until ctx ends.
func (s *Service) sweepOld(ctx context.Context) {
	tick := time.NewTicker(oldEvery)
	defer tick.Stop()
	for {
		_, err := s.SweepCommands(ctx)
		_, kept := s.SweepInbox(ctx)
		if err = errors.Join(err, s.sweepSent(ctx), kept); err != nil && ctx.Err() == nil {
			s.Failed("a sweep of what is old failed", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
