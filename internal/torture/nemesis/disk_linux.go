package nemesis

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Disk is a small one, in memory.
type Disk struct{ Folder string }

// NewDisk mounts a disk of so many MiB on a folder that it makes, for the account that
// owns another folder. Only root can.
func NewDisk(folder string, size int, ofOwner string) (*Disk, error) {
	var owner syscall.Stat_t
	if err := syscall.Stat(ofOwner, &owner); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	options := fmt.Sprintf("size=%dm,mode=0700,uid=%d,gid=%d", size, owner.Uid, owner.Gid)
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, options); err != nil {
		return nil, errors.Join(fmt.Errorf("mount a small disk: %w", err), os.Remove(folder))
	}
	return &Disk{folder}, nil
}

func (d *Disk) filler() string { return filepath.Join(d.Folder, "filler") }

// Fill leaves no byte free. Again, it takes what has become free since.
func (d *Disk) Fill() error {
	file, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	block := make([]byte, 1<<20)
	for size := len(block); size > 0; {
		switch _, err := file.Write(block[:size]); {
		case errors.Is(err, syscall.ENOSPC):
			size /= 2
		case err != nil:
			return err
		}
	}
	return nil
}

// Free gives back what Fill took.
func (d *Disk) Free() error {
	if err := os.Remove(d.filler()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Close takes the disk away, with all that is on it.
func (d *Disk) Close() error {
	return errors.Join(syscall.Unmount(d.Folder, syscall.MNT_DETACH), os.Remove(d.Folder))
}
