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

// childrenOf returns the processes that a process has started and that still run.
func childrenOf(parent int) []int {
	out, err := exec.Command("ps", "-A", "-o", "pid=").Output()
	if err != nil {
		return nil
	}
	var children []int
	for _, field := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			continue
		}
		if of, runs := parentOf(pid); runs && of == parent {
			children = append(children, pid)
		}
	}
	return children
}

// parentOf returns who started a process, and whether it runs still.
func parentOf(pid int) (parent int, runs bool) {
	// #nosec G204 -- the argument is a number
	out, err := exec.Command("ps", "-o", "ppid=,state=", "-p", strconv.Itoa(pid)).Output()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) < 2 || strings.HasPrefix(fields[1], "Z") {
		return 0, false
	}
	parent, err = strconv.Atoi(fields[0])
	return parent, err == nil
}
