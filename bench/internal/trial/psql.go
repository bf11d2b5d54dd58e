package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/load"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/rounds"
	"github.com/pawl-go/pawl/bench/internal/stat"
	"github.com/pawl-go/pawl/bench/internal/stock"
	"github.com/pawl-go/pawl/internal/localpg"
)

// warm is how many batches go before those that are measured: from the sixth on
// the server may keep a plan.
const warm = 6

// Psql runs batches of 1,000 first deliveries by the generated call and, the same
// statement with the same arguments, by psql. Both run on one connection, and both
// read all answers.
func Psql(ctx context.Context, server *localpg.Server, random *rand.Rand, turns, batches int) (figures []result.Figure, err error) {
	p, err := place.New(ctx, server.URL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Drop(ctx)) }()
	s := stock.New(p.Pool)
	run, by := psqlRunner(server)
	took, err := rounds.Run(random, turns, 2, func(_, i int) (float64, error) {
		n := (warm + batches) * contender.BatchSize
		orders, err := s.Peek(ctx, n)
		if err != nil {
			return 0, err
		}
		s.Take(n)
		way := generated
		if i == 1 {
			way = run
		}
		times, err := way(ctx, p.URL, orders)
		if err != nil {
			return 0, err
		}
		if len(times) != warm+batches {
			return 0, fmt.Errorf("%d batches took their time, not %d", len(times), warm+batches)
		}
		counts, err := stock.Count(ctx, p.Pool, contender.Paid, load.Numbers(orders))
		if err == nil {
			err = counts.Err()
		}
		return stat.Of(times[warm:]).Median, err
	})
	if err != nil {
		return nil, err
	}
	return []result.Figure{
		{Name: "a batch of 1,000 by the generated call", Unit: "ms", Samples: took[0]},
		{Name: "a batch of 1,000 by psql", Unit: "ms", Samples: took[1], Note: by},
		{Name: goal.PsqlRatio, Unit: "×", Samples: stat.Ratios(took[1], took[0]), Note: by},
	}, nil
}

// generated runs the batches and returns their times in milliseconds.
func generated(ctx context.Context, url string, orders []contender.Delivery) ([]float64, error) {
	opened, err := contender.PawlBatch().Open(ctx, contender.Env{URL: url, Conns: 1, Callers: 1, Event: contender.Paid})
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	var times []float64
	for ; len(orders) > 0; orders = orders[contender.BatchSize:] {
		started := time.Now()
		if _, err := opened.Call(ctx, orders[:contender.BatchSize]); err != nil {
			return nil, err
		}
		times = append(times, float64(time.Since(started).Microseconds())/1000)
	}
	return times, nil
}

// psqlRunner is psql, as installed beside the server or elsewhere; without it, one
// EXECUTE after the other on a plain connection.
func psqlRunner(server *localpg.Server) (run func(context.Context, string, []contender.Delivery) ([]float64, error), by string) {
	program := filepath.Join(server.BinDir, "psql")
	if server.BinDir == "" {
		program = "psql"
	}
	found, err := exec.LookPath(program)
	if err != nil {
		found, err = exec.LookPath("psql")
	}
	if err != nil {
		return plainly, "there is no psql: EXECUTE on a plain connection instead"
	}
	return func(ctx context.Context, url string, orders []contender.Delivery) ([]float64, error) {
		prepare, executes := recorded(ctx, orders)
		// #nosec G204 -- the program that was looked for
		command := exec.CommandContext(ctx, found, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url)
		var script, out, problems bytes.Buffer
		// \o keeps what is read from the output; \timing still tells there.
		fmt.Fprintf(&script, "%s;\n\\o /dev/null\n\\timing on\n", prepare)
		for _, sql := range executes {
			script.WriteString(sql + ";\n")
		}
		command.Stdin, command.Stdout, command.Stderr = &script, &out, &problems
		if err := command.Run(); err != nil {
			return nil, fmt.Errorf("psql: %w: %s", err, problems.String())
		}
		return timings(out.String())
	}, `timed by psql's \timing, literals sent as text`
}

var timing = regexp.MustCompile(`(?m)^Time: ([0-9.]+) ms`)

// timings reads the milliseconds that psql tells.
func timings(out string) ([]float64, error) {
	var times []float64
	for _, found := range timing.FindAllStringSubmatch(out, -1) {
		ms, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			return nil, err
		}
		times = append(times, ms)
	}
	return times, nil
}

// plainly does as psql does, by pgx.
func plainly(ctx context.Context, url string, orders []contender.Delivery) ([]float64, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	prepare, executes := recorded(ctx, orders)
	if _, err := conn.PgConn().Exec(ctx, prepare).ReadAll(); err != nil {
		return nil, err
	}
	var times []float64
	for _, sql := range executes {
		started := time.Now()
		if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return nil, err
		}
		times = append(times, float64(time.Since(started).Microseconds())/1000)
	}
	return times, nil
}
