//go:build !linux

package testpgbouncer

import "syscall"

func withParent() *syscall.SysProcAttr { return nil }
