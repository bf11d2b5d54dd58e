package localpg

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// minMajor is the oldest release that the project supports.
const minMajor = 14

// host is what the package asks of the machine around it; tests hand in another.
type host struct {
	lookPath func(program string) (string, error)
	glob     func(pattern string) ([]string, error)
	// version runs a server program and returns its major release.
	version func(ctx context.Context, postgres string) (int, error)
	// account is whom the server runs as; nil means as ourselves.
	account func() (*account, error)
	// install installs Debian's package.
	install func(ctx context.Context) error
	// fetch downloads binaries and returns the folder that holds them.
	fetch    func(ctx context.Context) (string, error)
	freePort func() (int, error)
}

func thisHost(opts Options) host {
	return host{
		lookPath: exec.LookPath,
		glob:     filepath.Glob,
		version:  serverVersion,
		account:  serverAccount,
		install:  debian{log: opts.Log, lookPath: exec.LookPath, root: os.Geteuid() == 0, run: runCommand}.install,
		fetch:    (&fetcher{repository: opts.RepositoryURL, cache: opts.CacheDir, log: opts.Log}).fetch,
		freePort: freePort,
	}
}

// account is the user that a server runs as when we are root.
type account struct {
	name     string
	uid, gid uint32
}

// installedPatterns are where packagers put the binaries, beside PATH.
var installedPatterns = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// findBinaries returns the folder of the installed binaries to use: PATH's, else
// the newest of the known places. The error says what was looked at.
func findBinaries(ctx context.Context, h host) (string, error) {
	var refused []string
	for _, dir := range candidates(h) {
		if err := usable(ctx, h, dir); err != nil {
			refused = append(refused, err.Error())
			continue
		}
		return dir, nil
	}
	if len(refused) == 0 {
		return "", fmt.Errorf("neither in PATH nor in %s", strings.Join(installedPatterns, ", "))
	}
	return "", fmt.Errorf("%s", strings.Join(refused, "; "))
}

// candidates lists folders in the order of preference.
func candidates(h host) []string {
	var dirs []string
	if initdb, err := h.lookPath("initdb"); err == nil {
		// A link in PATH leads to the folder where initdb's companions are.
		if target, err := filepath.EvalSymlinks(initdb); err == nil {
			initdb = target
		}
		dirs = append(dirs, filepath.Dir(initdb))
	}
	var installed []string
	for _, pattern := range installedPatterns {
		found, err := h.glob(pattern)
		if err != nil {
			continue // a folder that cannot be read holds nothing for us
		}
		installed = append(installed, found...)
	}
	slices.SortStableFunc(installed, func(a, b string) int {
		return slices.Compare(releaseOf(b), releaseOf(a))
	})
	return append(dirs, installed...)
}

var releaseDigits = regexp.MustCompile(`\d+`)

// releaseOf reads the release out of a folder's path, as numbers, so that 15 is
// newer than 9.6. A path without digits ("latest", Homebrew's plain
// "postgresql") comes last, where usable still judges it.
func releaseOf(dir string) []int {
	var release []int
	for _, digits := range releaseDigits.FindAllString(filepath.Dir(dir), -1) {
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		release = append(release, n)
	}
	return release
}

// usable reports why the binaries in dir are of no use, or nil.
func usable(ctx context.Context, h host, dir string) error {
	for _, program := range []string{"initdb", "postgres"} {
		if !executable(filepath.Join(dir, program)) {
			return fmt.Errorf("%s has no %s", dir, program)
		}
	}
	major, err := h.version(ctx, filepath.Join(dir, "postgres"))
	if err != nil {
		return fmt.Errorf("%s does not run: %w", filepath.Join(dir, "postgres"), err)
	}
	if major < minMajor {
		return fmt.Errorf("%s is release %d, older than %d", dir, major, minMajor)
	}
	account, err := h.account()
	if err != nil {
		return err
	}
	if account != nil && !reachable(dir, account) {
		return fmt.Errorf("%s is closed to the user %s", dir, account.name)
	}
	return nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

var majorRelease = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// serverVersion reads "postgres (PostgreSQL) 15.14 (…)".
func serverVersion(ctx context.Context, postgres string) (int, error) {
	out, err := exec.CommandContext(ctx, postgres, "--version").Output()
	if err != nil {
		return 0, err
	}
	m := majorRelease.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("unknown version %q", strings.TrimSpace(string(out)))
	}
	return strconv.Atoi(string(m[1]))
}

// acquire returns a folder of binaries, whatever it takes; its error wraps
// ErrUnavailable.
func acquire(ctx context.Context, h host) (string, error) {
	dir, err := findBinaries(ctx, h)
	if err == nil {
		return dir, nil
	}
	tried := []attempt{{"installed binaries", err}}
	if err = h.install(ctx); err == nil {
		if dir, err = findBinaries(ctx, h); err == nil {
			return dir, nil
		}
	}
	tried = append(tried, attempt{"Debian's package", err})
	if dir, err = h.fetch(ctx); err == nil {
		if err = usable(ctx, h, dir); err == nil {
			return dir, nil
		}
	}
	tried = append(tried, attempt{"download", err})
	return "", unavailable(tried)
}

type attempt struct {
	what string
	err  error
}

// unavailable words the one message that a person reads when nothing worked.
func unavailable(tried []attempt) error {
	lines := make([]string, 0, len(tried))
	for _, t := range tried {
		lines = append(lines, fmt.Sprintf("  %s: %s", t.what, cmp.Or(strings.TrimSpace(t.err.Error()), "failed")))
	}
	return fmt.Errorf("%w. Tried:\n%s\nInstall PostgreSQL %d or newer (Debian, Ubuntu: apt-get install postgresql; "+
		"macOS: brew install postgresql; others: postgresql.org/download), "+
		"or set DATABASE_URL (tests: PAWL_TEST_DATABASE_URL) to a server that runs",
		ErrUnavailable, strings.Join(lines, "\n"), minMajor)
}

// freePort returns a port that was free a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
