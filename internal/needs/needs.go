// Package needs lets tests use programs that are no part of Go: Graphviz,
// PlantUML, Node and Chromium. A test that needs one which is missing is skipped
// with what to install, so that Go alone is enough to work on the module; in CI
// it fails, so that nothing there goes unproven.
//
// Node packages that tests use are in one folder, testdata/node, and are put
// there by npm ci, with the scripts that use them beside. A package is added with
// npm install --save-exact in that folder, and the lock file names no registry:
// npm takes the one that the machine is set up with.
package needs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Command returns the path of a program, and skips the test when it is missing
// or, where CI is set, fails it. The Debian package is named to whoever reads that.
func Command(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name+" is missing: apt-get install "+debian)
	}
	return path
}

// Chromium returns the path of a Chromium or Chrome.
func Chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "chromium is missing: apt-get install chromium")
	return ""
}

// Node returns a command that runs a script of the node folder, with its
// packages installed, and with the environment that scripts look at: CHROMIUM is
// the path of the browser. The command's working directory is the folder.
func Node(t testing.TB, script string, args ...string) *exec.Cmd {
	t.Helper()
	node := Command(t, "node", "nodejs npm")
	folder := NodeFolder(t)
	cmd := exec.CommandContext(t.Context(), node, append([]string{filepath.Join(folder, script)}, args...)...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CHROMIUM="+Chromium(t))
	return cmd
}

// NodeFolder returns the path of the node folder, with its packages installed: a
// script elsewhere finds them in node_modules there.
func NodeFolder(t testing.TB) string {
	t.Helper()
	const folder = "internal/needs/testdata/node"
	path := filepath.Join(root(t), filepath.FromSlash(folder))
	// npm writes this file last.
	if _, err := os.Stat(filepath.Join(path, "node_modules", ".package-lock.json")); err != nil {
		missing(t, "Node packages are missing: npm ci --prefix "+folder)
	}
	return path
}

// root returns the module's folder: go test runs a test in its package's.
func root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		up := filepath.Dir(folder)
		if up == folder {
			t.Fatal("no go.mod above the test")
		}
		folder = up
	}
}

// missing ends the test: skipped at home, failed in CI.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
