//go:build !linux

package nemesis

import "errors"

// Disk is a small one, in memory, which Linux alone has.
type Disk struct{ Folder string }

// NewDisk says that there is none.
func NewDisk(string, int, string) (*Disk, error) { return nil, errors.ErrUnsupported }

// Fill says that there is none.
func (d *Disk) Fill() error { return errors.ErrUnsupported }

// Free does nothing.
func (d *Disk) Free() error { return nil }

// Close does nothing.
func (d *Disk) Close() error { return nil }
