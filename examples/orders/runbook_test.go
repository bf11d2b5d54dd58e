package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestRunbookReadsTheServicesDatabase(t *testing.T) {
	t.Parallel()
	url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
	var out bytes.Buffer
	require.Equal(t, 0, lookAfter(t.Context(), url, &out, []string{"inspect", "stuck"}))
	require.Contains(t, out.String(), "== cases\nnone\n")
	require.Equal(t, 1, lookAfter(t.Context(), url, &out, []string{"inspect", "command", "k"}))
	require.Equal(t, 2, lookAfter(t.Context(), url, &out, []string{"inspect"}))
	require.Equal(t, 2, lookAfter(t.Context(), "", &out, []string{"inspect", "stuck"}))
	require.Equal(t, 2, lookAfter(t.Context(), "postgres://%zz", &out, []string{"inspect", "stuck"}))
	require.Equal(t, 1, lookAfter(t.Context(), "postgres://127.0.0.1:1/none", &out, []string{"inspect", "stuck"}))
}
