package localpg

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// processInfo returns a running process's user and command line; false when
// there is none, or only its exit status is left.
func processInfo(pid int) (uid uint32, command string, ok bool) {
	proc := fmt.Sprintf("/proc/%d", pid)
	info, err := os.Stat(proc)
	if err != nil {
		return 0, "", false
	}
	stat, isStat := info.Sys().(*syscall.Stat_t)
	args, err := os.ReadFile(proc + "/cmdline")
	if err != nil || !isStat || len(args) == 0 {
		return 0, "", false
	}
	return stat.Uid, string(bytes.ReplaceAll(args, []byte{0}, []byte{' '})), true
}

// childrenOf returns the processes that a process has started and that still run.
func childrenOf(parent int) []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var children []int
	for _, path := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		if of, runs := parentOf(pid); runs && of == parent {
			children = append(children, pid)
		}
	}
	return children
}

// parentOf returns who started a process, and whether it runs still: until it has let
// go of all that it had, memory that it shares above all.
func parentOf(pid int) (parent int, runs bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// "pid (name) state parent …", and the name may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 || bytes.ContainsAny(fields[0], "ZX") {
		return 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
