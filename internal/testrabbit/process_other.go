//go:build !linux

package testrabbit

import (
	"os/exec"
	"syscall"
)

func apart() *syscall.SysProcAttr { return nil }

func end(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
