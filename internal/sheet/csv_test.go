package sheet

import (
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostile are texts that some program has fallen over.
var hostile = []string{
	"", " ", "plain", "a,b", `say "hi"`, "two\nlines", " blanks ", "semi;colon", "pipe|d",
	"=cmd|' /C calc'!A0", "+1", "-1", "@x", "\tx", "'=1", "\uFF1D1", "a;=1", "a\n=1",
	"<script>alert(1)</script>", "待支付 🚀", "_x0041_", "_x0041_x0042_", "&amp;", "]]>",
	strings.Repeat("六十个字符", 12),
}

func table(rows ...[]Cell) *Sheet {
	columns := 1
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	s := &Sheet{Name: "table", Rows: slices.Values(rows)}
	for i := range columns {
		s.Columns = append(s.Columns, Column{Header: "c" + columnName(i+1)})
	}
	return s
}

func TestCSVIsWhatItsReadersExpect(t *testing.T) {
	t.Parallel()
	s := table(Texts("a,b", `say "hi"`, "two\nlines"), []Cell{Text("=1+1"), Number(-5)})
	want := "cA,cB,cC\r\n" + `"a,b","say ""hi""","two` + "\n" + `lines"` + "\r\n" + `"'=1+1",-5,` + "\r\n"
	importer, err := CSV(s, Importer)
	require.NoError(t, err)
	require.Equal(t, want, string(importer))
	excel, err := CSV(s, Excel)
	require.NoError(t, err)
	require.Equal(t, "\xEF\xBB\xBF"+want, string(excel))
}

func TestCSVIsReadBack(t *testing.T) {
	t.Parallel()
	var rows [][]Cell
	for _, text := range hostile {
		rows = append(rows, Texts(text, "x", text))
	}
	for _, flavour := range []Flavour{Excel, Importer} {
		file, err := CSV(table(rows...), flavour)
		require.NoError(t, err)
		records, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(file), "\uFEFF"))).ReadAll()
		require.NoError(t, err)
		require.Len(t, records, len(hostile)+1)
		for i, text := range hostile {
			require.Equal(t, text, Original(records[i+1][0]))
			require.Equal(t, text, Original(records[i+1][2]))
			if text != "" {
				require.NotContains(t, "=+-@\t\r\n", records[i+1][0][:1])
			}
		}
	}
}

func TestCSVForExcelHasCellsThatExcelHolds(t *testing.T) {
	t.Parallel()
	long := table(Texts("=" + strings.Repeat("x", MaxCell)))
	excel, err := CSV(long, Excel)
	require.NoError(t, err)
	require.Contains(t, string(excel), "characters left out]")
	importer, err := CSV(long, Importer)
	require.NoError(t, err)
	require.Contains(t, string(importer), "'="+strings.Repeat("x", MaxCell)+"\"\r\n")
}

func TestTablesThatCannotBeWrittenAreRefused(t *testing.T) {
	t.Parallel()
	one := []Column{{Header: "a"}}
	endless := func(yield func([]Cell) bool) {
		for yield(nil) {
		}
	}
	for _, c := range []struct {
		name  string
		sheet *Sheet
		want  Error
	}{
		{"no column", &Sheet{Name: "s"}, Error{Sheet: "s", Err: ErrNoColumns}},
		{"too many columns", &Sheet{Name: "s", Columns: make([]Column, MaxColumns+1)}, Error{Sheet: "s", Column: 16385, Err: ErrTooManyColumns}},
		{"too many rows", &Sheet{Name: "s", Columns: one, Rows: endless}, Error{Sheet: "s", Row: 1048577, Err: ErrTooManyRows}},
		{"row too long", &Sheet{Name: "s", Columns: one, Rows: slices.Values([][]Cell{nil, Texts("a", "b")})}, Error{Sheet: "s", Row: 3, Column: 2, Err: ErrRowTooLong}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := CSV(c.sheet, Excel)
			var got *Error
			require.True(t, errors.As(err, &got), "%v", err)
			require.Equal(t, c.want, *got)
			_, err = XLSX(&Workbook{Sheets: []*Sheet{c.sheet}, Compress: true})
			require.True(t, errors.As(err, &got), "%v", err)
			require.Equal(t, c.want, *got)
		})
	}
}
