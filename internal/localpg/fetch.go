package localpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// fetcher gets binaries from a Maven repository through the embedded-postgres
// library, once a machine and release.
type fetcher struct {
	repository string
	cache      string
	log        io.Writer

	// pending are fetches that their callers may have given up.
	pending sync.WaitGroup
}

const fetchedRelease = embeddedpostgres.V18

// fetch returns the folder of the fetched binaries, of an earlier fetch if there
// was one. A failed or abandoned fetch leaves no half-filled folder.
func (f *fetcher) fetch(ctx context.Context) (string, error) {
	cache, err := f.cacheDir()
	if err != nil {
		return "", err
	}
	home := filepath.Join(cache, fmt.Sprintf("%s-%s-%s", runtime.GOOS, runtime.GOARCH, fetchedRelease))
	bin := filepath.Join(home, "bin")
	if executable(filepath.Join(bin, "postgres")) {
		return bin, nil
	}
	// #nosec G301 -- the account that the server drops to must reach the binaries.
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	say(f.log, "downloading PostgreSQL "+string(fetchedRelease))
	// The library's calls take no context; an abandoned one tidies up by itself.
	fetched := make(chan error, 1)
	f.pending.Go(func() { fetched <- f.fetchInto(cache, home) })
	select {
	case err := <-fetched:
		if err != nil {
			return "", err
		}
		return bin, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// fetchInto unpacks beside home and renames, so that two fetches at once, or a
// killed one, never show a reader a half-unpacked folder.
func (f *fetcher) fetchInto(cache, home string) (err error) {
	defer func() {
		// The library panics where a file cannot be removed; to us it is a failed fetch.
		if r := recover(); r != nil {
			err = fmt.Errorf("embedded-postgres: %v", r)
		}
	}()
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	unpacked := filepath.Join(work, "unpacked")
	if err := f.unpack(work, unpacked); err != nil {
		return err
	}
	err = os.Rename(unpacked, home)
	if err != nil && executable(filepath.Join(home, "bin", "postgres")) {
		return nil // somebody else was faster
	}
	return err
}

// unpack makes the library download and unpack. It has no call for that alone:
// its Start goes on to start a server, in its own way, as root never, and
// without our guarantees. So it is given a data folder that claims to be
// initialised and holds nothing; the start that follows the unpacking fails at
// once, and what counts is whether the binaries are there.
func (f *fetcher) unpack(work, unpacked string) error {
	data := filepath.Join(work, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(fetchedRelease), 0o600); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	config := embeddedpostgres.DefaultConfig().
		Version(fetchedRelease).
		Port(uint32(port)). // #nosec G115 -- a TCP port
		CachePath(filepath.Join(work, "archive")).
		RuntimePath(filepath.Join(work, "runtime")).
		BinariesPath(unpacked).
		DataPath(data).
		Logger(io.Discard)
	if f.repository != "" {
		config = config.BinaryRepositoryURL(f.repository)
	}
	db := embeddedpostgres.NewDatabase(config)
	defer func() { removeLog(logOf(db)) }()
	started := db.Start()
	if started == nil {
		if err := db.Stop(); err != nil {
			return err
		}
	}
	for _, program := range []string{"initdb", "postgres"} {
		if executable(filepath.Join(unpacked, "bin", program)) {
			continue
		}
		return errors.Join(fmt.Errorf("no %s was fetched", program), started)
	}
	return nil
}

// logOf returns the log file that the library opens in os.TempDir at each Start,
// and neither closes, removes nor names; nil before a Start. A look into the
// library's struct is the one way to tell our file from those of other processes.
// Were the field to go, the answer would be nil.
func logOf(db *embeddedpostgres.EmbeddedPostgres) *os.File {
	logger := reflect.ValueOf(db).Elem().FieldByName("syncedLogger")
	if !logger.IsValid() || logger.Kind() != reflect.Pointer || logger.IsNil() || logger.Elem().Kind() != reflect.Struct {
		return nil
	}
	file := logger.Elem().FieldByName("file")
	if !file.IsValid() || file.Type() != reflect.TypeFor[*os.File]() {
		return nil
	}
	return (*os.File)(file.UnsafePointer())
}

func removeLog(file *os.File) {
	if file == nil {
		return
	}
	_ = file.Close()
	_ = os.Remove(file.Name()) // a file that stays is no reason to refuse the binaries
}

// cacheDir is a folder that the account of a root-owned run can reach too: a
// user's own cache is closed to others, root's most of all.
func (f *fetcher) cacheDir() (string, error) {
	if f.cache != "" {
		return f.cache, nil
	}
	if os.Geteuid() == 0 {
		return "/var/cache/pawl-postgresql", nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "pawl-postgresql"), nil
}
