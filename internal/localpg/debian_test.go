package localpg

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// script writes an executable shell script.
func script(t *testing.T, body string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix shell")
	}
	path := filepath.Join(t.TempDir(), "program")
	writeScript(t, path, body)
	return path
}

func writeScript(t *testing.T, path, body string) {
	t.Helper()
	// A child forked while the file is open for writing would make it "busy".
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755)) // #nosec G306 -- a program
}

func TestDebianInstall(t *testing.T) {
	t.Parallel()
	install := []string{"sh", "-c", debianScript, "sh", "/etc/postgresql-common"}
	for _, tc := range []struct {
		name     string
		programs string
		root     bool
		password bool
		want     [][]string
		fails    string
	}{
		{name: "no apt-get", programs: "sudo", root: true, fails: "there is no apt-get"},
		{name: "root", programs: "apt-get", root: true, want: [][]string{install}},
		{name: "no sudo", programs: "apt-get", fails: "apt-get needs root, and there is no sudo"},
		{name: "sudo with a password", programs: "apt-get sudo", password: true,
			want: [][]string{{"sudo", "-n", "true"}}, fails: "apt-get needs root, and sudo wants a password"},
		{name: "sudo", programs: "apt-get sudo",
			want: [][]string{{"sudo", "-n", "true"}, append([]string{"sudo", "-n"}, install...)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var ran [][]string
			var log bytes.Buffer
			d := debian{
				log:  &log,
				root: tc.root,
				lookPath: func(program string) (string, error) {
					if strings.Contains(tc.programs, program) {
						return "/usr/bin/" + program, nil
					}
					return "", exec.ErrNotFound
				},
				run: func(_ context.Context, program string, args ...string) error {
					ran = append(ran, append([]string{program}, args...))
					if tc.password {
						return errors.New("a password is required")
					}
					return nil
				},
			}
			err := d.install(t.Context())
			require.Equal(t, tc.want, ran)
			if tc.fails != "" {
				require.EqualError(t, err, tc.fails)
				require.Empty(t, log.String())
				return
			}
			require.NoError(t, err)
			require.Equal(t, "installing Debian's postgresql package with apt-get\n", log.String())
		})
	}
}

// TestDebianScript runs the script for real, with an apt-get that notes how it
// was called and what it found.
func TestDebianScript(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, exit string
		fails      bool
	}{
		{name: "installed", exit: "0"},
		{name: "not installed", exit: "100", fails: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bin, config := filepath.Dir(script(t, "")), t.TempDir()
			notes := filepath.Join(bin, "notes")
			writeScript(t, filepath.Join(bin, "apt-get"),
				`echo "$DEBIAN_FRONTEND: $* with $(cat `+config+`/createcluster.d/*.conf)" >>`+notes+`; echo 'E: no such package' >&2; exit `+tc.exit)

			err := runCommand(t.Context(), "env", "PATH="+bin+":"+os.Getenv("PATH"), "sh", "-c", debianScript, "sh", config)
			if tc.fails {
				require.ErrorContains(t, err, "E: no such package")
			} else {
				require.NoError(t, err)
			}
			said, err := os.ReadFile(notes)
			require.NoError(t, err)
			require.Equal(t, "noninteractive: -qq update with create_main_cluster = false\n"+
				"noninteractive: -qq -y --no-install-recommends install postgresql with create_main_cluster = false\n", string(said))
			left, err := filepath.Glob(config + "/createcluster.d/*")
			require.NoError(t, err)
			require.Empty(t, left, "the machine's own installations should make clusters again")
		})
	}
}
