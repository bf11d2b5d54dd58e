//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"os/exec"
	"strconv"
	"strings"
)

// processInfo returns a running process's user and command line; false when
// there is none, or only its exit status is left.
func processInfo(pid int) (uid uint32, command string, ok bool) {
	// #nosec G204 -- the argument is a number
	out, err := exec.Command("ps", "-ww", "-o", "uid=,command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, "", false
	}
	owner, command, found := strings.Cut(strings.TrimSpace(string(out)), " ")
	n, err := strconv.ParseUint(owner, 10, 32)
	if err != nil || !found {
		return 0, "", false
	}
	return uint32(n), strings.TrimSpace(command) + " ", true
}
