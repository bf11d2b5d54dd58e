// Command withpg runs a command beside one PostgreSQL server for tests:
//
//	go run ./internal/localpg/withpg -- go test ./...
//
// The command finds the server's URL in PAWL_TEST_DATABASE_URL; when that is set
// already, no server is started. withpg ends with the command's exit code (128
// and the signal's number for one that a signal ended, as shells do), 2 for a
// wrong call, 126 when there is no server, 127 when the command cannot be run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/pawl-go/pawl/internal/localpg"
)

const urlVariable = "PAWL_TEST_DATABASE_URL"

const (
	exitUsage     = 2
	exitNoServer  = 126
	exitNoCommand = 127
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		_, _ = fmt.Fprintln(stderr, "usage: withpg -- command [argument ...]")
		return exitUsage
	}
	// From here on a signal is the command's to answer; ours is to stop the server
	// after it.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	if os.Getenv(urlVariable) != "" {
		return runCommand(args, nil, signals, stderr)
	}
	server, code := startServer(signals, stderr)
	if server == nil {
		return code
	}
	code = runCommand(args, []string{urlVariable + "=" + server.URL}, signals, stderr)
	if err := server.Stop(); err != nil {
		_, _ = fmt.Fprintln(stderr, "withpg: stop PostgreSQL:", err)
	}
	return code
}

// startServer returns the server, or nil and the exit code. A signal gives the
// start up.
func startServer(signals <-chan os.Signal, stderr io.Writer) (*localpg.Server, int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	type started struct {
		server *localpg.Server
		err    error
	}
	result := make(chan started, 1)
	go func() {
		server, err := localpg.Start(ctx, localpg.Options{Fast: true, Log: stderr})
		result <- started{server, err}
	}()
	select {
	case r := <-result:
		if r.err != nil {
			_, _ = fmt.Fprintln(stderr, "withpg:", r.err)
			return nil, exitNoServer
		}
		return r.server, 0
	case sig := <-signals:
		cancel()
		if r := <-result; r.server != nil {
			_ = r.server.Stop()
		}
		return nil, codeOfSignal(sig)
	}
}

// runCommand hands every signal on to the command and waits for its end. Of a
// Ctrl-C the command may hear twice, from the terminal and from us; that is
// better than never, which is what a kill of withpg alone would be.
func runCommand(args, env []string, signals <-chan os.Signal, stderr io.Writer) int {
	// #nosec G204 -- running what it is told to is the program's purpose
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		_, _ = fmt.Fprintln(stderr, "withpg:", err)
		return exitNoCommand
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			_ = cmd.Process.Signal(sig) // already gone is fine
		case err := <-ended:
			return codeOf(cmd.ProcessState, err, stderr)
		}
	}
}

func codeOf(state *os.ProcessState, err error, stderr io.Writer) int {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		_, _ = fmt.Fprintln(stderr, "withpg:", err)
		return 1
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return codeOfSignal(status.Signal())
	}
	return state.ExitCode()
}

func codeOfSignal(sig os.Signal) int {
	if s, ok := sig.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 1
}
