package localpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// debian installs Debian's package of the server.
type debian struct {
	log      io.Writer
	lookPath func(program string) (string, error)
	root     bool
	run      func(ctx context.Context, program string, args ...string) error
}

// debianConfig is postgresql-common's folder of settings.
const debianConfig = "/etc/postgresql-common"

// debianScript installs the binaries alone. The package would also create and
// start a cluster on port 5432 that nobody asked for; postgresql-common reads
// createcluster.d/*.conf before it does so. The file goes away afterwards, since
// a later installation by the machine's owner should do what it always does.
const debianScript = `set -e
export DEBIAN_FRONTEND=noninteractive
drop="$1/createcluster.d"
mkdir -p "$drop"
trap 'rm -f "$drop/zz-no-cluster.conf"' EXIT
echo 'create_main_cluster = false' >"$drop/zz-no-cluster.conf"
apt-get -qq update || true
apt-get -qq -y --no-install-recommends install postgresql`

// install needs apt-get, and root or a sudo that asks for no password. A lists
// update that fails is no failure yet: the package may be known already.
func (d debian) install(ctx context.Context) error {
	if _, err := d.lookPath("apt-get"); err != nil {
		return errors.New("there is no apt-get")
	}
	command := []string{"sh", "-c", debianScript, "sh", debianConfig}
	if !d.root {
		if _, err := d.lookPath("sudo"); err != nil {
			return errors.New("apt-get needs root, and there is no sudo")
		}
		if err := d.run(ctx, "sudo", "-n", "true"); err != nil {
			return errors.New("apt-get needs root, and sudo wants a password")
		}
		command = append([]string{"sudo", "-n"}, command...)
	}
	say(d.log, "installing Debian's postgresql package with apt-get")
	return d.run(ctx, command[0], command[1:]...)
}

// runCommand adds the end of what the command said to its error.
func runCommand(ctx context.Context, program string, args ...string) error {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLines(out.String(), 3))
	}
	return nil
}

// lastLines returns at most n lines from the end of text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func say(log io.Writer, line string) {
	if log != nil {
		_, _ = fmt.Fprintln(log, line) // a log that cannot be written stops nobody
	}
}
