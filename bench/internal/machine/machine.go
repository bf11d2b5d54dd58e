// Package machine describes what a run ran on, without the names and paths of the
// machine.
package machine

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/bench/internal/result"
)

// settings are those of the server that decide about speed.
var settings = []string{
	"fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "wal_compression", "shared_buffers", "max_wal_size",
	"checkpoint_timeout", "max_connections", "autovacuum", "jit", "plan_cache_mode", "random_page_cost",
}

// Describe describes the machine and the server of a URL. What is not to be had is
// empty.
func Describe(ctx context.Context, url string) (result.Machine, error) {
	m := result.Machine{
		CPU: field("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), Memory: memory(field("/proc/meminfo", "MemTotal")),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return m, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version')").Scan(&m.PostgreSQL); err != nil {
		return m, err
	}
	for _, name := range settings {
		s := result.Setting{Name: name}
		if err := conn.QueryRow(ctx, "SELECT COALESCE(current_setting($1, true), '')", name).Scan(&s.Value); err != nil {
			return m, err
		}
		m.Settings = append(m.Settings, s)
	}
	return m, nil
}

// field is the first value of a name in a file of lines like "name : value".
func field(path, name string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// memory is "16384 kB" in GiB.
func memory(text string) string {
	kib, err := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%.0f GiB", kib/(1<<20))
}
