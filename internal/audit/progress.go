package audit

import (
	"fmt"
	"io"
	"time"
)

// pace is how long progress is silent at least.
const pace = 2 * time.Second

// progress tells how far an audit is, to nobody when w is nil.
type progress struct {
	w         io.Writer
	clock     func() time.Time
	machine   string
	done, all int64
	told      time.Time
}

// start begins a machine of about all records.
func (p *progress) start(machine string, all int64) {
	p.machine, p.done, p.all = machine, 0, all
	if p.w != nil {
		p.tell(p.clock())
	}
}

// step counts a record. The clock is asked once in a while, since it costs
// more than judging a record.
func (p *progress) step() {
	p.done++
	if p.w == nil || p.done%4096 != 0 {
		return
	}
	if now := p.clock(); now.Sub(p.told) >= pace {
		p.tell(now)
	}
}

func (p *progress) tell(now time.Time) {
	p.told = now
	of := "an unknown number of"
	if p.all > 0 {
		of = fmt.Sprintf("about %d", p.all)
	}
	_, _ = fmt.Fprintf(p.w, "%s: %d of %s records\n", p.machine, p.done, of)
}
