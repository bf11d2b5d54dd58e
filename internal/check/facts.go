package check

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// facts checks identities, and that every event can be told twice safely.
func (c *checker) facts() {
	for _, d := range c.eventDecls {
		identified := !d.fields.Get("identity").IsNull()
		if !identified && len(d.event.Fingerprint) > 0 {
			c.errorf(keyPos(d.fields, "fingerprint", d.event.Pos), CodeFingerprint, "event %s has a fingerprint and no identity, so there is nothing to compare it with; add identity", quote(d.event.Name))
		}
		if identified && replays(d.event) {
			c.errorf(keyPos(d.fields.Get("otherwise").AsMapping(), "replay", d.event.Pos), CodeReplay,
				"event %s has an identity: a fact told again is answered before states are looked at, so a replay cell would swallow new facts; use ignore, reject or compensate", quote(d.event.Name))
		}
		if !identified && d.event.Callback && d.moves {
			c.warnf(d.event.Pos, CodeNoIdentity, "event %s comes from outside and has no identity, so two deliveries of one fact cannot be told from two facts; add identity", quote(d.event.Name))
		}
		if !identified && !d.event.ExpectVersion && !c.deadlineEvent(d.event) {
			c.repeatable(d.event)
		}
	}
}

func replays(e *model.Event) bool {
	for _, cell := range e.Cells {
		if cell.Otherwise == model.Replay {
			return true
		}
	}
	return false
}

func (c *checker) deadlineEvent(e *model.Event) bool {
	for _, s := range c.stateDecls {
		if s.deadline == nil {
			continue
		}
		if name := s.deadline.Get("event").AsScalar(); name != nil && name.Text == e.Name {
			return true
		}
	}
	return false
}

// repeatable reports the first transition after which the event would move the
// row once more.
func (c *checker) repeatable(e *model.Event) {
	for _, d := range c.eventOf[e.Name].transitions {
		if e.Cells[d.t.To.Index].Moves() {
			p := diag.Problem{Pos: d.to, Code: CodeRepeatable, Severity: diag.Error,
				Message: fmt.Sprintf("event %s leads to %s and moves the row again from there, so a call that is repeated would count twice; give the event an identity, or expect: version", quote(e.Name), quote(d.t.To.Name))}
			c.problems.Add(p)
			c.alsoWaivedAt(p, e.Pos)
			return
		}
	}
}
