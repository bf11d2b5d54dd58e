package studio

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/live"
)

// Each figure is read by itself: one that is waited for in vain is old, whichever it is,
// though all others have just been read.
func TestAnyOldFigureMakesAPageOld(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 3, 6, 2, 0, time.UTC)
	before := now.Add(-2 * time.Minute)
	for name, wait := range map[string]func(p *livePage){
		"counts":     func(p *livePage) { p.Counts.At, p.Counts.Next = before, before.Add(time.Second) },
		"moves":      func(p *livePage) { p.View.Moves.At, p.View.Moves.Next = before, before.Add(time.Second) },
		"deadlines":  func(p *livePage) { p.Deadlines.At, p.Deadlines.Next = before, before.Add(time.Second) },
		"deliveries": func(p *livePage) { p.Deliveries.At, p.Deliveries.Next = before, before.Add(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := now.Add(time.Second)
			p := livePage{Deliveries: live.Figure[live.Deliveries]{At: now, Next: next}}
			p.Counts.At, p.Counts.Next = now, next
			p.View.Moves.At, p.View.Moves.Next = now, next
			require.Zero(t, p.old(now), "none is waited for, and deadlines were never read")
			wait(&p)
			require.Equal(t, before, p.old(now))
		})
	}
}
