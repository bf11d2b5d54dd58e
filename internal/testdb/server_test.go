package testdb

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/localpg"
)

func TestServerIsStartedOnce(t *testing.T) { // sets the environment, so not parallel
	t.Setenv("PAWL_TEST_DATABASE_URL", "postgres://there/x")
	for _, tc := range []struct {
		name string
		err  error
	}{{"works", nil}, {"fails", errors.New("broken")}} {
		t.Run(tc.name, func(t *testing.T) {
			starts := 0
			s := &server{start: func(_ context.Context, opts localpg.Options) (*localpg.Server, error) {
				starts++
				require.Equal(t, "postgres://there/x", opts.URL)
				require.True(t, opts.Fast)
				if tc.err != nil {
					return nil, tc.err
				}
				return &localpg.Server{URL: opts.URL}, nil
			}}
			require.NoError(t, s.stop(), "nothing to stop yet")
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { _, _ = s.get() })
			}
			wg.Wait()
			url, err := s.get()
			require.Equal(t, 1, starts)
			require.Equal(t, tc.err, err)
			if err == nil {
				require.Equal(t, "postgres://there/x", url)
			}
			require.NoError(t, s.stop())
		})
	}
}

func TestWithDatabase(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"postgres://u:p%40ss@h:5/old?sslmode=disable", "postgres://u:p%40ss@h:5/new?sslmode=disable"},
		{"postgresql://h", "postgresql://h/new"},
		{"postgres://h/old?options=-c%20geqo%3Doff%2Bx", "postgres://h/new?options=-c%20geqo%3Doff%2Bx"},
		{"postgres://h/old?dbname=older&database=oldest", "postgres://h/new"},
		{"host=h user=u dbname=old", "host=h user=u dbname=old dbname=new"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			t.Parallel()
			got, err := withDatabase(tc.in, "new")
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
			config, err := pgx.ParseConfig(got)
			require.NoError(t, err)
			require.Equal(t, "new", config.Database)
			require.Equal(t, "h", config.Host)
		})
	}
	_, err := withDatabase("postgres://u:secret@h:port/x", "new")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}

func TestDigestOf(t *testing.T) {
	t.Parallel()
	digest := func(files ...string) string { // names and contents in turn
		t.Helper()
		fsys := fstest.MapFS{}
		for i := 0; i < len(files); i += 2 {
			fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
		}
		d, err := digestOf(fsys)
		require.NoError(t, err)
		require.Regexp(t, "^[0-9a-f]{24}$", d)
		return d
	}
	one := digest("1.sql", "a", "2.sql", "b")
	require.Equal(t, one, digest("2.sql", "b", "1.sql", "a"), "the order of files is goose's")
	require.Equal(t, one, digest("1.sql", "a", "2.sql", "b", "README.md", "notes", "sub/3.sql", "c"), "goose does not read these")
	for _, other := range []string{
		digest("1.sql", "a", "2.sql", "c"),
		digest("1.sql", "a", "3.sql", "b"),
		digest("1.sql", "a"),
		digest("1.sql", "a2.sqlb"),
		digest("1.sql", "b", "2.sql", "a"),
		digest(),
	} {
		require.NotEqual(t, one, other)
	}
}
