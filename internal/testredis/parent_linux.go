package testredis

import "syscall"

// withParent has the server end with the test's process, however that ends.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
