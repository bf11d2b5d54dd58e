package fsmtest

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// roundOver is what follows the tests of a round.
const roundOver = "fsmtest: the round is over"

// rounds runs the tests once for each line that it reads: the name of a file of
// statements, as in PAWL_TEST_STATEMENTS, a tab, and the pattern of the tests to
// run; both can be empty. After each round it writes a line. The rounds have one
// database, which is empty at the beginning of each.
func rounds(m *testing.M, in io.Reader, out io.Writer) int {
	flag.Parse()
	worst := 0
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		file, pattern, _ := strings.Cut(lines.Text(), "\t")
		code, err := oneRound(m, file, pattern)
		if err != nil {
			_, _ = fmt.Fprintln(out, "fsmtest:", err)
			return 1
		}
		worst = max(worst, code)
		_, _ = fmt.Fprintln(out, roundOver)
	}
	return worst
}

func oneRound(m *testing.M, file, pattern string) (int, error) {
	if err := flag.Set("test.run", pattern); err != nil {
		return 0, err
	}
	if err := os.Setenv(statementsVariable, file); err != nil {
		return 0, err
	}
	if database.e != nil {
		if err := database.e.empty(); err != nil {
			return 0, err
		}
		set, err := readStatements(file)
		if err != nil {
			return 0, err
		}
		before := database.e
		database.e = newEngine(before.m, before.pool, set)
		database.e.callers, database.e.role = before.callers, before.role
	}
	return m.Run(), nil
}

// empty ends what an earlier round may have left at work, and takes away all
// rows.
func (e *engine) empty() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tables := []string{quoted(e.m.Table), quoted(e.m.History), "fsm_outbox", "fsm_audit"}
	if e.m.Facts != "" {
		tables = append(tables, quoted(e.m.Facts))
	}
	for _, sql := range []string{
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'",
		"TRUNCATE " + strings.Join(tables, ", ") + " CASCADE",
	} {
		if _, err := e.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("empty the database: %w", err)
		}
	}
	return nil
}
