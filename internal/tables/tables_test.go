package tables_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/tables"
)

// What a project gets is what the example is tested with.
func TestTheExampleHasEachPart(t *testing.T) {
	t.Parallel()
	for _, p := range tables.Parts() {
		landed, err := filepath.Glob(filepath.Join("..", "..", "migrations", "*_fsm_"+p.Name+".sql"))
		require.NoError(t, err)
		require.Len(t, landed, 1, p.Name)
		sql, err := os.ReadFile(landed[0])
		require.NoError(t, err)
		require.Equal(t, string(sql), string(p.SQL), "%s and the part differ", landed[0])
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	parts := tables.Parts()
	require.NotEmpty(t, parts)
	for _, p := range parts {
		require.NotEmpty(t, p.Describe, p.Name)
		require.False(t, strings.Contains(p.Describe, "DO NOT EDIT"), p.Name)
		require.Equal(t, []string{p.Name}, tables.Made(p.SQL), "the marks of %s", p.Name)
		require.True(t, bytes.HasSuffix(p.SQL, fmt.Appendf(nil, "\n-- fsmgen:tables %s 1\n", p.Name)), p.Name)
		require.Contains(t, string(p.SQL), "-- +goose Up", p.Name)
		require.Contains(t, string(p.SQL), "-- +goose Down", p.Name)
		_, err := os.Stat(filepath.Join("..", "..", "fsm", p.Name))
		require.NoError(t, err, "a part is named after its package")
	}
}
