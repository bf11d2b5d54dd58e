// Command vulns says which known vulnerabilities the packages call that it is given:
//
//	go run ./internal/vulns ./fsm/... ./examples/...
//
// govulncheck looks for them; its list comes as the Go module golang.org/x/vulndb, by
// the proxy that all modules come by. The exit code is 1 for one in a dependency. One
// in the standard library is told alone: what mends it is the machine's toolchain.
// Where the list cannot be had, it says so and ends with 0.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
)

// list is the module that has the list.
const list = "golang.org/x/vulndb@latest"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, patterns []string, out, log io.Writer) int {
	folder, err := download(ctx)
	if err != nil {
		_, _ = fmt.Fprintln(log, "vulns: nothing was looked at, since the list of vulnerabilities cannot be had:", err)
		return 0
	}
	found, err := look(ctx, folder, patterns)
	if err != nil {
		_, _ = fmt.Fprintln(log, "vulns:", err)
		return 2
	}
	return tell(found, out)
}

// download returns the folder of the list's entries.
func download(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", list)
	content, err := cmd.Output()
	var got struct{ Dir, Error string }
	switch decoded := json.Unmarshal(content, &got); {
	case decoded == nil && got.Dir != "":
		return path.Join(got.Dir, "data", "osv"), nil
	case got.Error != "":
		return "", errors.New(got.Error)
	case err != nil:
		return "", err
	default:
		return "", fmt.Errorf("go mod download says %q", content)
	}
}

// look runs govulncheck, which ends with 0 in this format whatever it finds.
func look(ctx context.Context, folder string, patterns []string) ([]vulnerability, error) {
	args := append([]string{"tool", "govulncheck", "-format", "json", "-db", "file://" + folder}, patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	content, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("govulncheck: %w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return read(bytes.NewReader(content))
}

// vulnerability is one that the packages have something to do with.
type vulnerability struct {
	id, module, version, fixed, summary string
	// called says that a way leads to it.
	called bool
}

// stdlib is what govulncheck calls the standard library's module.
const stdlib = "stdlib"

// message is one of govulncheck's.
type message struct {
	OSV *struct {
		ID, Summary string
	}
	Finding *struct {
		OSV          string
		FixedVersion string `json:"fixed_version"`
		Trace        []struct{ Module, Version, Function string }
	}
}

// read returns the vulnerabilities in the order in which they were first told.
func read(r io.Reader) ([]vulnerability, error) {
	var found []vulnerability
	at, summaries := map[string]int{}, map[string]string{}
	for decoder := json.NewDecoder(r); ; {
		var m message
		if err := decoder.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("what govulncheck says cannot be read: %w", err)
		}
		if m.OSV != nil {
			summaries[m.OSV.ID] = m.OSV.Summary
		}
		if m.Finding == nil || len(m.Finding.Trace) == 0 {
			continue
		}
		first := m.Finding.Trace[0]
		n, known := at[m.Finding.OSV+" "+first.Module]
		if !known {
			n = len(found)
			at[m.Finding.OSV+" "+first.Module] = n
			found = append(found, vulnerability{id: m.Finding.OSV, module: first.Module, version: first.Version, fixed: m.Finding.FixedVersion})
		}
		found[n].called = found[n].called || first.Function != ""
	}
	for i := range found {
		found[i].summary = summaries[found[i].id]
	}
	return found, nil
}

// tell prints a line each of those that are called, and returns the exit code.
func tell(found []vulnerability, out io.Writer) int {
	code, uncalled := 0, 0
	for _, v := range found {
		if !v.called {
			uncalled++
			continue
		}
		note := "the toolchain has it: "
		if v.module != stdlib {
			note, code = "called: ", 1
		}
		fixed := v.fixed
		if fixed == "" {
			fixed = "no version yet"
		}
		_, _ = fmt.Fprintf(out, "%s%s in %s@%s, mended in %s: %s\n", note, v.id, v.module, v.version, fixed, v.summary)
	}
	_, _ = fmt.Fprintf(out, "%d known vulnerabilities, %d of them not called\n", len(found), uncalled)
	return code
}
