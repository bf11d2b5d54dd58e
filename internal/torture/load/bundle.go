package load

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/torture/journal"
)

// run does a service's part of one bundle: one of the services leads its orders, the
// other says again what was said of them, at the same time.
func (s *service) run(ctx context.Context, bundle int) {
	var stories []story
	for _, n := range Orders(s.Seed, bundle, s.Short) {
		stories = append(stories, storyOf(s.Seed, n))
	}
	how := modeOf(s.Seed, bundle)
	switch leads := bundle%Slots == s.Slot; {
	case leads && how == modeBatch:
		s.client(bundle).inBatches(ctx, stories, func(s story) []step { return s.lead })
	case leads && how == modeGather:
		s.spread(ctx, bundle, len(stories)/2, stories, (*client).gathered)
	case leads:
		s.spread(ctx, bundle, 8, stories, (*client).lead)
	case how == modeBatch && bundle%3 > 0:
		s.client(bundle).inBatches(ctx, stories, func(s story) []step { return s.echo })
	default:
		s.spread(ctx, bundle, 6, stories, (*client).echo)
	}
}

// Slots is how many services there are.
const Slots = 2

func (s *service) client(bundle int) *client {
	return &client{service: s, bundle: bundle, rand: rand.New(rand.NewPCG(s.Seed^uint64(s.Life), uint64(s.count.Add(1)))), seen: map[string]int64{}}
}

// spread has so many clients at once go through the stories.
func (s *service) spread(ctx context.Context, bundle, clients int, stories []story, do func(*client, context.Context, story)) {
	next := make(chan story)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for story := range next {
				do(s.client(bundle), ctx, story)
			}
		})
	}
	for _, story := range stories {
		next <- story
	}
	close(next)
	all.Wait()
}

// lead leads an order through its life, by single calls.
func (c *client) lead(ctx context.Context, story story) {
	for i, s := range story.lead {
		c.must(ctx, s)
		if i == 0 && story.order >= 0 && story.order%8 == 0 {
			c.useToken(ctx, story.order)
		}
	}
}

// echo says again what others say. A provider tries again where the order is not there
// yet.
func (c *client) echo(ctx context.Context, story story) {
	for _, s := range story.echo {
		for try := range 12 {
			if a := c.once(ctx, s); a.Outcome == journal.NotFound || a.Outcome == journal.Nothing || a.Outcome == journal.Unknown {
				c.pause(ctx, try+3)
				continue
			}
			break
		}
	}
}

// gathered leads an order by calls that a coalescer gathers, where there can be one.
func (c *client) gathered(ctx context.Context, story story) {
	for _, s := range story.lead {
		if c.verbs[s.verb].gather == nil || s.expects {
			c.must(ctx, s)
			continue
		}
		for try := 0; ctx.Err() == nil; try++ {
			a := c.gather(ctx, s)
			if a.Outcome != journal.Nothing && a.Outcome != journal.Unknown {
				break
			}
			c.pause(ctx, try)
		}
	}
}

// gather makes one call by the event's coalescer.
func (c *client) gather(ctx context.Context, s step) *journal.Answer {
	g, err := c.coalescer(ctx, s.verb)
	if err != nil {
		return &journal.Answer{Outcome: journal.Nothing} // no call was made
	}
	call := c.call(s, string(modeGather))
	c.journal.Ask(call)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	t, err := g.fire(ctx, s.key, s.p, call.ID)
	a := answer(call.ID, t, err)
	c.journal.Tell(a)
	return a
}

// inBatches takes all orders of a bundle through their steps side by side: the next
// ones of all are one batch for each event. Those that no batch can make are single
// calls.
func (c *client) inBatches(ctx context.Context, stories []story, of func(story) []step) {
	at := make([]int, len(stories))
	for more := true; more && ctx.Err() == nil; {
		more = false
		var verbs []string
		var alone []step
		steps := map[string][]step{}
		for i, story := range stories {
			if at[i] == len(of(story)) {
				continue
			}
			more = true
			s := of(story)[at[i]]
			at[i]++
			if c.verbs[s.verb].batch == nil || s.expects {
				alone = append(alone, s)
				continue
			}
			if steps[s.verb] == nil {
				verbs = append(verbs, s.verb)
			}
			steps[s.verb] = append(steps[s.verb], s)
			if c.rand.IntN(8) == 0 {
				steps[s.verb] = append(steps[s.verb], s) // told twice in one batch
			}
		}
		c.service.spread(ctx, c.bundle, 6, asStories(alone), (*client).lead)
		for _, verb := range verbs {
			c.mustAll(ctx, verb, steps[verb])
		}
	}
}

// asStories makes a story of each step.
func asStories(steps []step) []story {
	stories := make([]story, len(steps))
	for i, s := range steps {
		stories[i] = story{order: -1, key: s.key, lead: []step{s}}
	}
	return stories
}

// mustAll fires a batch until each of its items has a definite answer.
func (c *client) mustAll(ctx context.Context, verb string, steps []step) {
	for try := 0; len(steps) > 0 && ctx.Err() == nil; try++ {
		if try > 0 {
			c.pause(ctx, try)
		}
		calls, answers := make([]*journal.Call, len(steps)), make([]*journal.Answer, len(steps))
		keys, ps, ids := make([]string, len(steps)), make([]params, len(steps)), make([]string, len(steps))
		for i, s := range steps {
			calls[i] = c.call(s, string(modeBatch))
			keys[i], ps[i], ids[i] = s.key, s.p, calls[i].ID
		}
		c.journal.Ask(calls...)
		calling, cancel := context.WithTimeout(ctx, callTimeout)
		all, errs := c.verbs[verb].batch(calling, c.pool, keys, ps, ids)
		cancel()
		var again []step
		for i := range steps {
			answers[i] = answer(ids[i], all[i], errs[i])
			if o := answers[i].Outcome; o == journal.Nothing || o == journal.Unknown {
				again = append(again, steps[i])
			}
		}
		c.journal.Tell(answers...)
		steps = again
	}
}

// coalescer opens the event's coalescer when it is first asked for.
func (s *service) coalescer(ctx context.Context, verb string) (gathered, error) {
	s.gathering.Lock()
	defer s.gathering.Unlock()
	if g, ok := s.gatherers[verb]; ok {
		return g, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	g, err := s.verbs[verb].gather(ctx, s.pool, fsm.Coalescing{Workers: 1, Timeout: callTimeout, LockTimeout: lockTimeout})
	if err == nil {
		s.gatherers[verb] = g
	}
	return g, err
}
