package testpgbouncer

import "syscall"

// withParent has the pooler end with the test's process, however that ends.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
