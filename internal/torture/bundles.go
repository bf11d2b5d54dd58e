package torture

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/pawl-go/pawl/internal/torture/load"
)

// window is how many bundles are under way at once.
const window = 6

// bundles are handed out to all services, each of which does its part.
type bundles struct {
	seed     uint64
	short    bool
	services []*service

	mutex    sync.Mutex
	next     int
	underway map[int]map[int]bool // by bundle, the services that are not done
	finished int
	changed  chan struct{}
}

func newBundles(seed uint64, short bool) *bundles {
	return &bundles{seed: seed, short: short, underway: map[int]map[int]bool{}, changed: make(chan struct{}, 1)}
}

// hand hands out bundles until ctx ends.
func (b *bundles) hand(ctx context.Context) {
	for ctx.Err() == nil {
		b.mutex.Lock()
		var fresh []int
		for len(b.underway) < window {
			waiting := map[int]bool{}
			for slot := range load.Slots {
				waiting[slot] = true
			}
			b.underway[b.next] = waiting
			fresh = append(fresh, b.next)
			b.next++
		}
		b.mutex.Unlock()
		// A service that is started in this moment may be told twice, and says twice
		// that it is done: no harm.
		for _, bundle := range fresh {
			for _, s := range b.services {
				s.run(bundle)
			}
		}
		select {
		case <-b.changed:
		case <-ctx.Done():
		}
	}
}

// done notes that a service is done with a bundle.
func (b *bundles) done(slot, bundle int) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	waiting := b.underway[bundle]
	if waiting == nil {
		return
	}
	delete(waiting, slot)
	if len(waiting) > 0 {
		return
	}
	delete(b.underway, bundle)
	b.finished++
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// of are the bundles that a service is not done with, in order.
func (b *bundles) of(slot int) []int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	var mine []int
	for bundle, waiting := range b.underway {
		if waiting[slot] {
			mine = append(mine, bundle)
		}
	}
	slices.Sort(mine)
	return mine
}

// keys are those of the orders that are under way, in order.
func (b *bundles) keys() []string {
	var keys []string
	for _, bundle := range b.left() {
		for _, n := range load.Orders(b.seed, bundle, b.short) {
			keys = append(keys, load.OrderKey(b.seed, n))
		}
	}
	slices.Sort(keys)
	return keys
}

func (b *bundles) left() []int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return slices.Sorted(maps.Keys(b.underway))
}

func (b *bundles) open() int { return len(b.left()) }

func (b *bundles) count() int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.finished
}
