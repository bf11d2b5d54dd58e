package bypass_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/bypass"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pgparse"
)

// told are the codes and words of what is found, without their places.
func told(sql []byte) []string {
	var problems diag.List
	bypass.Scan([]bypass.File{{Name: "x.sql", SQL: sql}}, tables, &problems)
	var out []string
	for _, p := range problems.Sorted() {
		out = append(out, string(p.Code)+" "+p.Message)
	}
	slices.Sort(out)
	return out
}

// around are statements that go around a machine, a file each.
func around(t testing.TB) [][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/bad/*.sql")
	require.NoError(t, err)
	var all [][]byte
	for _, path := range paths {
		sql, err := os.ReadFile(path)
		require.NoError(t, err)
		sql = bytes.TrimPrefix(sql, []byte("\uFEFF")) // which means something at the beginning alone
		// Comments that allow a finding are read by where they stand; what cannot be
		// read is told with the words of the text itself.
		if !bytes.Contains(sql, []byte("fsmgen")) && len(told(sql)) > 0 && !strings.HasPrefix(filepath.Base(path), "FSM074") {
			all = append(all, sql)
		}
	}
	return all
}

// FuzzDisguised: a finding does not go away, and none comes, by what means nothing in
// SQL: a comment between two words, white space, other capitals.
func FuzzDisguised(f *testing.F) {
	all := around(f)
	require.Greater(f, len(all), 30)
	for i := range all {
		for _, text := range []string{"c", "UPDATE orders SET x = 1;", "'", "$$", "-- +goose Down", "-- name: X :exec", "\"", "@a"} {
			f.Add(uint8(i), uint16(i*5+len(text)), uint8(i+len(text)), text)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint16, how uint8, text string) {
		sql := all[int(which)%len(all)]
		result, err := pgparse.Scan(string(sql))
		require.NoError(t, err)
		tokens := result.GetTokens()
		i := int(at) % len(tokens)
		start, end := int(tokens[i].GetStart()), int(tokens[i].GetEnd())
		text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "?")
		if strings.Contains(text, "fsmgen") || len(text) > 256 {
			return
		}
		var disguised string
		switch how % 4 {
		case 0:
			disguised = " /*" + strings.NewReplacer("*", "x", "/", "x").Replace(text) + "*/ "
		case 1:
			disguised = " --" + strings.NewReplacer("\n", " ", "\r", " ").Replace(text) + "\n"
		case 2:
			disguised = "\n\t \f "
		case 3: // other capitals, of a word that is not quoted
			word := string(sql[start:end])
			if tokens[i].GetKeywordKind() == pg.KeywordKind_NO_KEYWORD || strings.ContainsAny(word, `"'`) {
				return
			}
			changed := slices.Concat(sql[:start], []byte(strings.ToUpper(word)), sql[end:])
			require.Equal(t, told(sql), told(changed), "%s", changed)
			return
		}
		if i > 0 && glued(sql, int(tokens[i-1].GetEnd()), start) {
			return
		}
		changed := slices.Concat(sql[:start], []byte(disguised), sql[start:])
		require.Equal(t, told(sql), told(changed), "%s", changed)
	})
}

// glued reports whether a word hangs on the one before: @name is two words to the
// scanner, and so is a constant that goes on in the next line.
func glued(sql []byte, end, start int) bool {
	return end == start && (sql[end-1] == '@' || sql[end-1] == ':') || end < start && sql[end-1] == '\'' && sql[start] == '\''
}
