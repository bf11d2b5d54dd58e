package trial

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/load"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/stat"
	"github.com/pawl-go/pawl/bench/internal/stock"
)

const (
	portions = 10
	// singly is one of how many transitions goes by a call of its own, the others by
	// the coalescer.
	singly = 50
)

// Memory fires n transitions in ten portions, by one coalescer and one pool, and
// looks at the heap after each: what is reachable then is what the service keeps.
func Memory(ctx context.Context, server string, n int) (figures []result.Figure, err error) {
	p, err := place.New(ctx, server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Drop(ctx)) }()
	s := stock.New(p.Pool)
	if err := s.Fill(ctx, n); err != nil {
		return nil, err
	}
	env := contender.Env{URL: p.URL, Conns: 8, Callers: 512, Event: contender.Pay}
	many, err := contender.PawlCoalesced().Open(ctx, env)
	if err != nil {
		return nil, err
	}
	defer many.Close()
	single, err := contender.Pawl().Open(ctx, env)
	if err != nil {
		return nil, err
	}
	defer single.Close()
	var heap []float64
	for range portions {
		if err := portion(ctx, s, n/portions, many.Call, single.Call); err != nil {
			return nil, err
		}
		heap = append(heap, reachable())
	}
	note := fmt.Sprintf("%d transitions, heap in MB:", n)
	for _, mb := range heap {
		note += fmt.Sprintf(" %.1f", mb)
	}
	return []result.Figure{{Name: goal.MemoryRatio, Unit: "×", Samples: []float64{growth(heap)}, Note: note}}, nil
}

// growth is the last three against the first three of them, by their medians: the
// heap of a moment has buffers of that moment.
func growth(heap []float64) float64 {
	return stat.Of(heap[len(heap)-3:]).Median / stat.Of(heap[:3]).Median
}

// portion fires n transitions, and forgets them.
func portion(ctx context.Context, s *stock.Stock, n int, many, single contender.Caller) error {
	orders, err := s.Peek(ctx, n)
	if err != nil {
		return err
	}
	s.Take(n)
	alone := n / singly
	if _, err := load.Run(ctx, single, 1, load.Once(orders[:alone]), 8, time.Hour); err != nil {
		return err
	}
	tally, err := load.Run(ctx, many, 1, load.Once(orders[alone:]), 512, time.Hour)
	if err == nil && int(tally.Moved) != n-alone {
		err = fmt.Errorf("of %d orders %d moved", n-alone, tally.Moved)
	}
	return err
}

// reachable is the heap in MB after what nobody needs any more is gone. Pools of
// buffers survive one collection.
func reachable() float64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}
