package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// outcome is what became of a target.
type outcome struct {
	target
	executions int
	// found is how many new inputs do something new, of known in all.
	found, known int
	took         time.Duration
	failed       bool
}

// minimize bounds how long one new input is made smaller. Go's own bound, a minute, may
// be as long as all the time that a target has.
const minimize = 5 * time.Second

// fuzz runs one target. What go test says of a failure is passed on.
func fuzz(ctx context.Context, out io.Writer, t target, length time.Duration) outcome {
	o := outcome{target: t}
	began := time.Now()
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", length.String(), "-fuzzminimizetime", minimize.String(), "./"+t.pkg)
	reader, writer := io.Pipe()
	cmd.Stdout, cmd.Stderr = writer, writer
	read := make(chan struct{})
	go func() {
		defer close(read)
		o.read(out, reader)
	}()
	err := cmd.Run()
	_ = writer.Close() // a pipe's never fails
	<-read
	o.took, o.failed = time.Since(began).Round(time.Second), err != nil && ctx.Err() == nil
	fmt.Fprintf(out, "%s: %d executions, %d new, failed: %t\n", t, o.executions, o.found, o.failed)
	return o
}

var progress = regexp.MustCompile(`^fuzz: elapsed: .*, execs: (\d+) .*new interesting: (\d+) \(total: (\d+)\)`)

// read takes the numbers from go test's output, and passes on everything that is no
// progress.
func (o *outcome) read(out io.Writer, in io.Reader) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		switch m := progress.FindStringSubmatch(line); {
		case m != nil:
			o.executions, _ = strconv.Atoi(m[1]) // digits, by the pattern
			o.found, _ = strconv.Atoi(m[2])
			o.known, _ = strconv.Atoi(m[3])
		case strings.HasPrefix(line, "fuzz: elapsed:"), line == "PASS\n", strings.HasPrefix(line, "ok "):
		default:
			_, _ = io.WriteString(out, line)
		}
		if err != nil {
			return
		}
	}
}

// table prints all outcomes.
func table(out io.Writer, rows []outcome) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\ntarget\ttime\texecutions\tnew inputs\tinputs\tfailed\n")
	total := 0
	for _, o := range rows {
		failed := "no"
		if o.failed {
			failed = "YES"
		}
		total += o.executions
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\n", o.target, o.took, o.executions, o.found, o.known, failed)
	}
	targets := fmt.Sprintf("%d targets", len(rows))
	if len(rows) == 1 {
		targets = "1 target"
	}
	fmt.Fprintf(w, "%s\t\t%d\t\t\t\n", targets, total)
	return w.Flush()
}
