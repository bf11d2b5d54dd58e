package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/linear"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// historyOptions are the flags of check-history.
type historyOptions struct {
	visualize string
	timeout   time.Duration
}

func historyFlags(k *call) {
	k.flags.StringVar(&k.history.visualize, "visualize", "", "draw the calls of what is refused into this `FILE`, a page for a browser")
	k.history.timeout = time.Minute
	k.flags.Var((*span)(&k.history.timeout), "timeout", "the `TIME` that the search for one row, or for rows with a common fact, may take")
}

// runCheckHistory says whether recorded calls can have been answered as they were.
func runCheckHistory(ctx context.Context, k *call) int {
	if len(k.args) < 2 {
		return k.fail(errors.New("check-history needs a DEFINITION and at least one HISTORY"))
	}
	machines, err := k.recorded(ctx, k.args[0])
	if err != nil {
		return k.fail(k.atRoot(err))
	}
	verdicts := []*linear.Verdict{}
	for _, m := range machines {
		v, err := k.judged(ctx, m, k.args[1:])
		switch {
		case errors.Is(err, linear.ErrNothing):
		case err != nil:
			return k.fail(k.atRoot(err))
		default:
			verdicts = append(verdicts, v)
		}
	}
	if len(verdicts) == 0 {
		return k.fail(fmt.Errorf("no line is of a machine of %s", k.args[0]))
	}
	if err := errors.Join(k.tell(verdicts), k.draw(ctx, verdicts)); err != nil {
		return k.fail(err)
	}
	for _, v := range verdicts {
		if v.Result() != linear.Accepted {
			return exitFindings
		}
	}
	return exitFine
}

// recorded reads the definition, or those of a folder.
func (k *call) recorded(ctx context.Context, name string) ([]*model.Machine, error) {
	s, err := k.onDisk(name)
	if err != nil {
		return nil, err
	}
	var problems diag.List
	machines, whole, err := pipeline.ReadWhole(ctx, s.fsys, []string{s.path}, &problems)
	if err != nil || whole {
		return machines, err
	}
	if err := problems.Text(k.err); err != nil {
		return nil, err
	}
	return nil, errors.New("the definition has errors, so there is nothing to check against")
}

// judged reads the histories for one machine and checks them.
func (k *call) judged(ctx context.Context, m *model.Machine, files []string) (*linear.Verdict, error) {
	if m.Table == nil {
		return nil, linear.ErrNothing
	}
	h, err := linear.NewHistory(m)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if err := k.readHistory(ctx, h, name); err != nil {
			return nil, err
		}
	}
	return linear.Check(ctx, h, linear.Options{Timeout: k.history.timeout})
}

func (k *call) readHistory(ctx context.Context, h *linear.History, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := os.Open(k.below(name))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	return h.Read(f, name)
}

// below is a path as it counts from the project's root.
func (k *call) below(name string) string {
	if path := filepath.FromSlash(name); filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(k.dir, filepath.FromSlash(name))
}

// tell prints the verdicts: as text what was refused is the result, and the summary
// goes to standard error.
func (k *call) tell(verdicts []*linear.Verdict) error {
	if k.format == "json" {
		out := json.NewEncoder(k.out)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		return out.Encode(struct {
			Machines []*linear.Verdict `json:"machines"`
		}{verdicts})
	}
	for _, v := range verdicts {
		if _, err := fmt.Fprint(k.out, v.Findings()); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(k.err, v.Summary()); err != nil {
			return err
		}
	}
	return nil
}

// draw writes the page of the first refusal.
func (k *call) draw(ctx context.Context, verdicts []*linear.Verdict) error {
	if k.history.visualize == "" {
		return nil
	}
	for _, v := range verdicts {
		if v.Refusal == nil {
			continue
		}
		var page bytes.Buffer
		if err := v.Refusal.Visualize(ctx, &page); err != nil {
			return err
		}
		return os.WriteFile(k.below(k.history.visualize), page.Bytes(), 0o644) //nolint:gosec // for whoever may read the history
	}
	_, err := fmt.Fprintf(k.err, "nothing was refused, so %s was not written\n", k.history.visualize)
	return err
}
