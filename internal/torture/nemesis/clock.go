package nemesis

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Clock is the clock of a server that libfaketime was loaded into.
type Clock struct{ file string }

// cacheSeconds is how long a process of the server may go by what it read last.
const cacheSeconds = 1

// libraries are where libfaketime is, as its packagers put it.
var libraries = []string{
	"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib/faketime/libfaketime.so.1", "/usr/lib64/faketime/libfaketime.so.1",
	"/usr/local/lib/faketime/libfaketime.so.1",
}

// NewClock makes the file that says by how much the clock is off, in a folder that the
// server's account may read, and returns what the server's environment must have. The
// clock is nil where there is no libfaketime.
func NewClock(folder string) (*Clock, []string, error) {
	for _, pattern := range libraries {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			continue
		}
		c := &Clock{filepath.Join(folder, "clock")}
		return c, []string{
			"LD_PRELOAD=" + found[0], "FAKETIME_TIMESTAMP_FILE=" + c.file, fmt.Sprintf("FAKETIME_CACHE_DURATION=%d", cacheSeconds),
			"FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1", "FAKETIME_DISABLE_SHM=1",
		}, c.Set(0)
	}
	return nil, nil, nil
}

// Set has the clock be ahead by that many seconds. The server's processes notice one
// by one.
func (c *Clock) Set(seconds int) error {
	draft := c.file + ".new"
	if err := os.WriteFile(draft, fmt.Appendf(nil, "+%d\n", seconds), 0o644); err != nil { // #nosec G306 -- the server's account reads it
		return err
	}
	return os.Rename(draft, c.file)
}

// await returns when all processes of the server must have noticed.
func (c *Clock) await() { time.Sleep(cacheSeconds*time.Second + 200*time.Millisecond) }
