package localpg

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// machine is a pretended machine: folders under a temporary root, and releases
// by folder.
type machine struct {
	host
	root     string
	releases map[string]int
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{root: t.TempDir(), releases: map[string]int{}}
	m.host = host{
		lookPath: func(string) (string, error) { return "", errors.New("not in PATH") },
		glob: func(pattern string) ([]string, error) {
			found, err := filepath.Glob(m.root + pattern)
			return found, err
		},
		version: func(_ context.Context, postgres string) (int, error) { return m.releases[filepath.Dir(postgres)], nil },
		account: func() (*account, error) { return nil, nil },
		install: func(context.Context) error { return errors.New("no right to install") },
		fetch:   func(context.Context) (string, error) { return "", errors.New("no network") },
	}
	return m
}

// add puts binaries of a release into a folder, and returns the folder.
func (m *machine) add(t *testing.T, dir string, release int, programs ...string) string {
	t.Helper()
	dir = filepath.Join(m.root, dir)
	require.NoError(t, os.MkdirAll(dir, 0o755)) // #nosec G301 -- as an installation is
	if programs == nil {
		programs = []string{"initdb", "postgres"}
	}
	for _, program := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(dir, program), nil, 0o755)) // #nosec G306 -- a program
	}
	m.releases[dir] = release
	return dir
}

func TestFindBinaries(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		build func(t *testing.T, m *machine) (want string)
	}{
		{"the newest, by number", func(t *testing.T, m *machine) string {
			m.add(t, "/usr/lib/postgresql/9.6/bin", 9)
			m.add(t, "/usr/lib/postgresql/15/bin", 15)
			return m.add(t, "/usr/lib/postgresql/100/bin", 100)
		}},
		{"the newest of all places", func(t *testing.T, m *machine) string {
			m.add(t, "/usr/lib/postgresql/15/bin", 15)
			m.add(t, "/opt/homebrew/opt/postgresql@16/bin", 16)
			return m.add(t, "/usr/pgsql-17/bin", 17)
		}},
		{"Postgres.app", func(t *testing.T, m *machine) string {
			return m.add(t, "/Applications/Postgres.app/Contents/Versions/16/bin", 16)
		}},
		{"Homebrew on Intel, without a number", func(t *testing.T, m *machine) string {
			return m.add(t, "/usr/local/opt/postgresql/bin", 16)
		}},
		{"PATH before the rest, through a link", func(t *testing.T, m *machine) string {
			m.add(t, "/usr/lib/postgresql/17/bin", 17)
			want := m.add(t, "/srv/postgres/bin", 16)
			link := filepath.Join(m.root, "initdb")
			require.NoError(t, os.Symlink(filepath.Join(want, "initdb"), link))
			m.lookPath = func(program string) (string, error) {
				require.Equal(t, "initdb", program)
				return link, nil
			}
			return want
		}},
		{"not one that is too old", func(t *testing.T, m *machine) string {
			old := m.add(t, "/srv/postgres/bin", 13)
			m.lookPath = func(string) (string, error) { return filepath.Join(old, "initdb"), nil }
			return m.add(t, "/usr/lib/postgresql/14/bin", 14)
		}},
		{"not a client alone", func(t *testing.T, m *machine) string {
			m.add(t, "/usr/lib/postgresql/17/bin", 17, "psql", "initdb")
			return m.add(t, "/usr/lib/postgresql/16/bin", 16)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			want := tc.build(t, m)
			want, err := filepath.EvalSymlinks(want)
			require.NoError(t, err)
			got, err := findBinaries(t.Context(), m.host)
			require.NoError(t, err)
			got, err = filepath.EvalSymlinks(got)
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestFindBinariesSaysWhyNot(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	old := m.add(t, "/usr/lib/postgresql/9.6/bin", 9)
	closed := m.add(t, "/usr/lib/postgresql/16/bin", 16)
	require.NoError(t, os.Chmod(filepath.Dir(closed), 0o700))
	m.account = func() (*account, error) { return &account{name: "stranger", uid: 54321, gid: 54321}, nil }
	_, err := findBinaries(t.Context(), m.host)
	require.EqualError(t, err, closed+" is closed to the user stranger; "+old+" is release 9, older than 14")
}

func TestAcquire(t *testing.T) {
	t.Parallel()

	t.Run("installed binaries need nothing else", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		want := m.add(t, "/usr/lib/postgresql/16/bin", 16)
		m.install, m.fetch = nil, nil // a call would panic
		got, err := acquire(t.Context(), m.host)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})

	t.Run("then the package", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.fetch = nil
		var want string
		m.install = func(context.Context) error {
			want = m.add(t, "/usr/lib/postgresql/15/bin", 15)
			return nil
		}
		got, err := acquire(t.Context(), m.host)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})

	t.Run("then the download, also after a package of no use", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.install = func(context.Context) error {
			m.add(t, "/usr/lib/postgresql/11/bin", 11)
			return nil
		}
		fetched := m.add(t, "/cache/bin", 18)
		m.fetch = func(context.Context) (string, error) { return fetched, nil }
		got, err := acquire(t.Context(), m.host)
		require.NoError(t, err)
		require.Equal(t, fetched, got)
	})

	t.Run("one message when nothing works", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		_, err := start(t.Context(), Options{}, m.host)
		require.ErrorIs(t, err, ErrUnavailable)
		lines := strings.Split(err.Error(), "\n")
		require.Len(t, lines, 5)
		require.Equal(t, "no PostgreSQL could be had. Tried:", lines[0])
		require.Equal(t, "  installed binaries: neither in PATH nor in /usr/lib/postgresql/*/bin, /usr/pgsql-*/bin, "+
			"/opt/homebrew/opt/postgresql*/bin, /usr/local/opt/postgresql*/bin, /Applications/Postgres.app/Contents/Versions/*/bin", lines[1])
		require.Equal(t, "  Debian's package: no right to install", lines[2])
		require.Equal(t, "  download: no network", lines[3])
		require.Contains(t, lines[4], "apt-get install postgresql")
		require.Contains(t, lines[4], "brew install postgresql")
		require.Contains(t, lines[4], "set DATABASE_URL")
	})
}

func TestServerVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		output string
		want   int
		fails  string
	}{
		{output: "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)", want: 15},
		{output: "postgres (PostgreSQL) 18beta1", want: 18},
		{output: "something else 15", fails: `unknown version "something else 15"`},
	} {
		t.Run(tc.output, func(t *testing.T) {
			t.Parallel()
			program := script(t, "echo '"+tc.output+"'")
			got, err := serverVersion(t.Context(), program)
			if tc.fails != "" {
				require.EqualError(t, err, tc.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}
