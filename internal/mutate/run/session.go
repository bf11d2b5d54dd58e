package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Words between this command and the tests: see the package fsmtest.
const (
	roundsVariable = "PAWL_TEST_ROUNDS"
	roundOver      = "fsmtest: the round is over"
)

var (
	errTimeout = errors.New("timed out")
	errEnded   = errors.New("the tests ended")
)

// session is a running test binary that runs the tests as often as it is asked.
type session struct {
	suite   *suite
	command *exec.Cmd
	in      io.WriteCloser
	lines   chan string
}

// open starts the binary. env is added to the environment.
func (s *suite) open(ctx context.Context, skip string, env ...string) (*session, error) {
	args := []string{"-test.v", "-test.timeout=0"}
	if skip != "" {
		args = append(args, "-test.skip="+skip)
	}
	c := exec.CommandContext(ctx, s.binary, args...)
	c.Dir = s.dir
	c.Env = append(append(os.Environ(), roundsVariable+"=1"), env...)
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.Stderr = c.Stdout
	if err := c.Start(); err != nil {
		return nil, err
	}
	r := &session{suite: s, command: c, in: in, lines: make(chan string, 64)}
	go func() {
		defer close(r.lines)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			r.lines <- lines.Text()
		}
	}()
	return r, nil
}

// close lets the binary end by itself: it drops its database.
func (r *session) close() error {
	_ = r.in.Close()
	for range r.lines { // until it has ended
	}
	return r.command.Wait()
}

// kill ends a binary that does not answer any more.
func (r *session) kill() {
	_ = r.command.Process.Kill()
	for range r.lines {
	}
	_ = r.command.Wait()
}

// round is what one run of the tests said.
type round struct {
	passed, failed []string // leaves of the tree of tests, sorted
	output         string
}

var verdict = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+) \(`)

// run runs the tests that match the pattern against a file of statements, both
// can be empty. errTimeout and errEnded leave the session useless.
func (r *session) run(statements, pattern string, patience time.Duration) (*round, error) {
	if _, err := fmt.Fprintf(r.in, "%s\t%s\n", statements, pattern); err != nil {
		return nil, fmt.Errorf("%w: %w", errEnded, err)
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	seen := map[string][]string{}
	var output []string
	for {
		select {
		case line, more := <-r.lines:
			if !more {
				return nil, fmt.Errorf("%w: %s", errEnded, strings.Join(tail(output, 20), "\n"))
			}
			if strings.HasPrefix(line, roundOver) {
				return &round{leaves(seen["PASS"]), leaves(seen["FAIL"]), strings.Join(output, "\n")}, nil
			}
			if v := verdict.FindStringSubmatch(line); v != nil {
				seen[v[1]] = append(seen[v[1]], v[2])
			}
			output = append(output, line)
		case <-limit.C:
			return nil, errTimeout
		}
	}
}

func tail(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }

// leaves returns the names that have none below them, sorted.
func leaves(names []string) []string {
	slices.Sort(names)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
}

// patternOf matches the tests, and as few others as a pattern can that has one
// part for each level.
func patternOf(tests []string) string {
	var levels [][]string
	for _, t := range tests {
		for i, part := range strings.Split(t, "/") {
			if i == len(levels) {
				levels = append(levels, nil)
			}
			if q := regexp.QuoteMeta(part); !slices.Contains(levels[i], q) {
				levels[i] = append(levels[i], q)
			}
		}
	}
	parts := make([]string, len(levels))
	for i, l := range levels {
		parts[i] = "^(" + strings.Join(l, "|") + ")$"
	}
	return strings.Join(parts, "/")
}
