package evaluate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
)

// A text is read as PostgreSQL's manual says that its type is written.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ, text string
		want      any
	}{
		{"text", " a ", " a "},
		{"smallint", " -7 ", int16(-7)},
		{"integer", "+7", int32(7)},
		{"bigint", "9223372036854775807", int64(9223372036854775807)},
		{"boolean", "yes", true},
		{"numeric(12,2)", "1.50", evaluate.Numeric("1.5")},
		{"double precision", "1e3", 1000.0},
		{"uuid", "{123E4567E89B42D3A456426614174000}", evaluate.UUID("123e4567-e89b-42d3-a456-426614174000")},
		{"date", "2026-01-31", evaluate.Date("2026-01-31")},
		{"timestamptz", "2026-01-31 12:00:00+02", time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)},
		{"jsonb", `{"a": 1}`, `{"a": 1}`},
	} {
		typ, ok := model.ParseType(c.typ)
		require.True(t, ok)
		got, err := evaluate.Read(typ, c.text)
		require.NoError(t, err, c.typ)
		require.Equal(t, c.want, got, c.typ)
	}
	for typ, text := range map[string]string{"smallint": "32768", "bigint": "ten", "boolean": "o", "uuid": "1", "date": "soon", "timestamptz": "soon", "numeric": "NaN", "double precision": "Infinity"} {
		of, ok := model.ParseType(typ)
		require.True(t, ok)
		_, err := evaluate.Read(of, text)
		require.Error(t, err, typ)
	}
}
