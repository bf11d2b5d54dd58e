package sheet

import (
	"io"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows are made when they are written and not kept: a hundred thousand rows of
// four cells would be more than 50 MB as cells.
func TestLargeSheetsAreNotHeldInMemory(t *testing.T) {
	const rows = 100_000
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := uint64(0)
	s := &Sheet{Name: "large", Filter: true, Columns: make([]Column, 4), Rows: func(yield func([]Cell) bool) {
		row := make([]Cell, 4)
		for i := range rows {
			for j := range row {
				row[j] = Text("a cell with some text in it, row " + strconv.Itoa(i))
			}
			if i%10_000 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
			if !yield(row) {
				return
			}
		}
	}}
	require.NoError(t, WriteXLSX(io.Discard, &Workbook{Compress: true, Sheets: []*Sheet{s}}))
	require.NoError(t, WriteCSV(io.Discard, s, Excel))
	require.Less(t, most, before.HeapAlloc+16<<20)
}
