package record

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// Recorder writes the calls of one machine. Use [New], and [Recorder.For] for further
// machines in the same history.
type Recorder struct {
	machine string
	to      *sink
}

// sink is where the recorders of one history write.
type sink struct {
	name  string
	clock func() int64

	mu   sync.Mutex
	w    io.Writer
	last int64
	n    uint64
	err  error
}

// Option sets something about a recorder.
type Option func(*sink)

// Clock gives the time in nanoseconds in place of the process's own. It must not go
// backwards, and processes whose histories are checked together must agree on it.
func Clock(now func() int64) Option { return func(s *sink) { s.clock = now } }

// Name begins the ids of the calls, in place of a random text. Recorders whose
// histories are checked together need names of their own.
func Name(name string) Option { return func(s *sink) { s.name = name } }

// New returns a recorder for the machine that writes to w, a line by one Write. Give
// it a file: what has been written then outlives the process, where a buffer would
// lose the calls that a crash leaves in doubt. A second process needs a file of its
// own.
//
// Times are those of the process's monotonic clock, counted from the wall clock at
// the time of New: within one recorder they never go backwards, and among processes
// of one machine they are as good as its clock.
func New(w io.Writer, machine string, options ...Option) *Recorder {
	s := &sink{name: rand.Text()[:8], w: w}
	start := time.Now()
	epoch := start.UnixNano()
	s.clock = func() int64 { return epoch + int64(time.Since(start)) }
	for _, o := range options {
		o(s)
	}
	return &Recorder{machine, s}
}

// For returns a recorder for another machine in the same history.
func (r *Recorder) For(machine string) *Recorder { return &Recorder{machine, r.to} }

// Err returns the first error of writing, after which nothing more is written: the
// history then is no witness to anything, and a program that checks it should fail.
// It is nil while all is well.
func (r *Recorder) Err() error {
	r.to.mu.Lock()
	defer r.to.mu.Unlock()
	return r.to.err
}

// now is the time. Only write gives times to lines, so that their order is theirs.
func (s *sink) now() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tick()
}

// tick reads the clock, and lets no two readings be equal: of two events of a history
// one is first. The caller holds mu.
func (s *sink) tick() int64 {
	s.last = max(s.clock(), s.last+1)
	return s.last
}

// id is that of the next call.
func (s *sink) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return s.name + "-" + strconv.FormatUint(s.n, 10)
}

// fail keeps the error of what cannot be written down.
func (s *sink) fail(event string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("record %s: %w", event, err)
	}
}

// write gives the lines the time and appends them.
func (s *sink) write(lines ...*line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range lines {
		if s.err != nil {
			return
		}
		l.At = s.tick()
		text, err := json.Marshal(l)
		if err != nil {
			s.err = fmt.Errorf("record %s: %w", l.Event, err)
			return
		}
		if _, err := s.w.Write(append(text, '\n')); err != nil {
			s.err = fmt.Errorf("record: %w", err)
		}
	}
}
