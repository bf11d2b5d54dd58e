//go:build !linux

package testredis

import "syscall"

func withParent() *syscall.SysProcAttr { return nil }
