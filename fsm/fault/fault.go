// Package fault has named points at which a program can be made to fail, so that
// a test can show what is left behind when it dies just there: after a claim, say,
// or after a commit and before the reply.
//
// A point does nothing until something is armed at it: [With] arms one for the
// calls that share a context, which tests in parallel want; [Arm] arms the whole
// process, which a test that kills a child process wants. The packages beside
// fsm document their points; a program of yours may have its own.
package fault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Point is the name of a place in the code, such as "command.claimed".
type Point string

// Action is what happens at a point. The error that it returns becomes that of
// the code at the point, as if the step after the point had failed.
type Action func(ctx context.Context) error

// ErrInjected is the error of the action "error", for errors.Is.
var ErrInjected = errors.New("injected fault")

// ErrSpec says that the text given to Arm is not of its form.
var ErrSpec = errors.New("bad fault specification")

type armed struct {
	point Point
	do    Action
	next  *armed
}

type contextKey struct{}

// process holds what Arm armed; nil for nothing.
var process atomic.Pointer[armed]

// At passes the point: it runs what the context arms there, then what the process
// does, and returns the first error. It returns nil where nothing is armed. It is
// safe for concurrent use.
func At(ctx context.Context, p Point) error {
	of, _ := ctx.Value(contextKey{}).(*armed)
	for _, list := range []*armed{of, process.Load()} {
		for a := list; a != nil; a = a.next {
			if a.point != p {
				continue
			}
			if err := a.do(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// With returns a context that arms an action at a point, beside what ctx arms.
func With(ctx context.Context, p Point, do Action) context.Context {
	before, _ := ctx.Value(contextKey{}).(*armed)
	return context.WithValue(ctx, contextKey{}, &armed{p, do, before})
}

// Arm arms the whole process, in place of what was armed before, and returns
// ErrSpec for a text of another form. The text is a list, parted by commas, of
// POINT=ACTION or POINT=ACTION@N: kill ends the process as kill -9 would, error
// fails with ErrInjected; with @N only when the point is passed for the nth time.
// An empty text disarms.
//
//	fault.Arm("command.claimed=kill@3")
//
// A service would give it an environment variable's text at its start, in tests
// alone.
func Arm(spec string) error {
	var list *armed
	for _, item := range strings.Split(spec, ",") {
		if item == "" {
			continue
		}
		a, err := parse(item)
		if err != nil {
			return err
		}
		a.next, list = list, a
	}
	process.Store(list)
	return nil
}

func parse(item string) (*armed, error) {
	point, action, ok := strings.Cut(item, "=")
	if !ok || point == "" {
		return nil, fmt.Errorf("%w: %q is not POINT=ACTION", ErrSpec, item)
	}
	name, times, counted := strings.Cut(action, "@")
	var do Action
	switch name {
	case "kill":
		do = Kill
	case "error":
		do = Fail
	default:
		return nil, fmt.Errorf("%w: %q is neither kill nor error", ErrSpec, name)
	}
	if counted {
		n, err := strconv.ParseInt(times, 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%w: %q is no number from 1", ErrSpec, times)
		}
		do = Nth(n, do)
	}
	return &armed{point: Point(point), do: do}, nil
}

// Kill ends this process at once, as kill -9 would: nothing deferred runs, no
// buffer is written, no connection is closed in good order.
func Kill(context.Context) error {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(syscall.SIGKILL)
	}
	select {} // the signal is on its way
}

// Fail returns ErrInjected.
func Fail(context.Context) error { return ErrInjected }

// Nth returns an action that does nothing but at the nth call, counted from 1.
// It is safe for concurrent use, as far as do is.
func Nth(n int64, do Action) Action {
	var calls atomic.Int64
	return func(ctx context.Context) error {
		if calls.Add(1) != n {
			return nil
		}
		return do(ctx)
	}
}
