package machine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestField(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cpuinfo")
	require.NoError(t, os.WriteFile(path, []byte("processor\t: 0\nmodel name\t: Some: CPU\nmodel name\t: Another\n"), 0o600))
	require.Equal(t, "Some: CPU", field(path, "model name"))
	require.Empty(t, field(path, "bogomips"))
	require.Empty(t, field(path+"?", "model name"))
}

func TestMemory(t *testing.T) {
	t.Parallel()
	require.Equal(t, "16 GiB", memory("16384000 kB"))
	require.Empty(t, memory(""))
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	m, err := Describe(t.Context(), testdb.URL(t))
	require.NoError(t, err)
	require.Positive(t, m.Cores)
	require.NotEmpty(t, m.PostgreSQL)
	require.Len(t, m.Settings, len(settings))
	require.Equal(t, "fsync", m.Settings[0].Name)
	require.NotEmpty(t, m.Settings[0].Value)
}
