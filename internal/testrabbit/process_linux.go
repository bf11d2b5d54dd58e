package testrabbit

import (
	"os/exec"
	"syscall"
)

// apart has a program be the first of a group of its own, and end with the test's
// process, however that ends.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// end kills the group.
func end(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
