package localpg

import (
	"bytes"
	"fmt"
	"os"
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
