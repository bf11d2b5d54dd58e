//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const folderPrefix = "pawl-postgresql-"

// folder is the place of one run. Whoever lives in it holds a lock on its lock
// file; the kernel drops the lock when the last holder ends, in whatever way, so
// a free lock means that nobody does. (A written pid would have to be told from
// a later process with the same number.)
type folder struct {
	path string
	lock *os.File
}

func (f *folder) dataDir() string      { return filepath.Join(f.path, "data") }
func (f *folder) logPath() string      { return filepath.Join(f.path, "postgres.log") }
func (f *folder) passwordPath() string { return filepath.Join(f.path, "password") }
func (f *folder) lockPath() string     { return filepath.Join(f.path, "lock") }

// newFolder makes a folder, locks it and gives it to the account. A sweep may
// meet the folder before it is locked and take it away; then another is made.
func newFolder(parent string, as *account) (*folder, error) {
	var last error
	for range 10 {
		path, err := os.MkdirTemp(parent, folderPrefix)
		if err != nil {
			return nil, err
		}
		f := &folder{path: path}
		if last = f.claim(as); last == nil {
			return f, nil
		}
		_ = f.remove()
	}
	return nil, fmt.Errorf("make a folder for the server: %w", last)
}

func (f *folder) claim(as *account) error {
	lock, err := os.OpenFile(f.lockPath(), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	f.lock = lock
	if err := tryLock(lock); err != nil {
		return err
	}
	if !sameFile(lock, f.lockPath()) {
		return errors.New("the folder was swept away while it was made")
	}
	// For a person who looks into the folder; nothing reads it.
	if _, err := fmt.Fprintf(lock, "owner pid %d\n", os.Getpid()); err != nil {
		return err
	}
	if as != nil {
		return os.Chown(f.path, int(as.uid), int(as.gid))
	}
	return nil
}

func (f *folder) writePassword(password string, as *account) error {
	if err := os.WriteFile(f.passwordPath(), []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	if as != nil {
		return os.Chown(f.passwordPath(), int(as.uid), int(as.gid))
	}
	return nil
}

// remove removes the folder, the lock last: should we be killed on the way, the
// rest is still recognised. A folder that is gone is fine.
func (f *folder) remove() error {
	if f.lock != nil {
		defer func() { _ = f.lock.Close() }()
	}
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(f.path, e.Name())
		if path == f.lockPath() {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return os.RemoveAll(f.path)
}

// sweep removes what killed runs left in parent, and stops the servers that
// still run there. It takes folders of our own runs alone, and of those only
// ones whose lock is free. What cannot be removed stays for a later sweep: an old
// run's rest must not keep a new one from starting.
func sweep(parent string, as *account) {
	owners := []uint32{uint32(os.Geteuid())} // #nosec G115 -- a uid
	if as != nil {
		owners = append(owners, as.uid)
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), folderPrefix) {
			continue
		}
		f := &folder{path: filepath.Join(parent, e.Name())}
		if uid, ok := ownerOf(f.path); ok && slices.Contains(owners, uid) {
			f.sweep(uid)
		}
	}
}

// sweep removes one folder unless somebody lives in it.
func (f *folder) sweep(uid uint32) {
	lock, err := os.OpenFile(f.lockPath(), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(f.path) // only when empty: its maker was killed before the lock
		return
	}
	if err != nil {
		return
	}
	f.lock = lock
	if err := tryLock(lock); err != nil {
		_ = lock.Close()
		return
	}
	stopLeftServer(f.dataDir(), uid)
	_ = f.remove()
}

// stopLeftServer ends a postmaster that outlived both its owner and the
// watchdog. The pid in its file may long be somebody else's, so the process must
// also run on this very data folder.
func stopLeftServer(dataDir string, uid uint32) {
	text, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		return
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 {
		return
	}
	alive := func() bool {
		owner, command, ok := processInfo(pid)
		return ok && owner == uid && strings.Contains(command, "postgres -D "+dataDir+" ")
	}
	if !alive() {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGQUIT)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(stopTimeout)
	defer deadline.Stop()
	for alive() {
		select {
		case <-tick.C:
		case <-deadline.C:
			_ = syscall.Kill(pid, syscall.SIGKILL)
			return
		}
	}
}

func tryLock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// sameFile tells whether path still leads to the open file.
func sameFile(file *os.File, path string) bool {
	open, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(open, named)
}
