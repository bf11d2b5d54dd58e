//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// startPrivate needs locks, signals and a shell as Unix has them.
func startPrivate(context.Context, Options, host) (*Server, error) {
	return nil, fmt.Errorf("%w: private servers are started on Unix systems alone; "+
		"set DATABASE_URL (tests: PAWL_TEST_DATABASE_URL) to a server that runs", ErrUnavailable)
}

func serverAccount() (*account, error) { return nil, errors.ErrUnsupported }

func reachable(string, *account) bool { return false }

func endBySignal(os.Signal) { os.Exit(1) }
