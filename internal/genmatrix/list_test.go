package genmatrix

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sheet"
)

func records(t *testing.T, file string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file, "\uFEFF"))).ReadAll()
	require.NoError(t, err)
	for _, row := range rows {
		for i, field := range row {
			require.False(t, field != "" && strings.ContainsAny(field[:1], "=+-@\t\r"), field)
			row[i] = sheet.Original(field)
		}
	}
	return rows
}

// The rows of the import file that matter, written by hand from the definition.
func TestTheListOfTheOrderIsRight(t *testing.T) {
	t.Parallel()
	rows := records(t, render(t, read(t, "../../definitions/order.yaml"), "csv", "zh")["order.csv"])
	require.Equal(t, []string{"machine", "state", "event", "variant", "guard", "condition", "sql", "outcome", "to", "sets", "emits", "deadline", "fact"}, rows[0])
	for _, want := range [][]string{
		{"order", "PENDING", "pay", "", "", "", "", "moves", "PAYING", "", "", "", ""},
		{"order", "PENDING", "expire", "", "", "", "", "moves", "CANCELLED", "", "", "30m", ""},
		{"order", "PAYING", "query_payment", "", "", "", "", "moves", "PAYING", "", "payment_query_due", "15m", ""},
		{"order", "PAYING", "payment_succeeded", "amount_matches", "amount_matches", "the amount paid is the amount due", "total_cents = @paid_cents", "moves", "PAID", "paid_cents = @paid_cents, payment_no = @payment_no, paid_at = now()", "order_paid", "", "payment_no"},
		{"order", "PAYING", "payment_succeeded", "none", "", "", "", "compensate", "", "", "refund_due", "", "payment_no"},
		{"order", "PAID", "refund", "none", "", "", "", "guard failed", "", "", "", "", ""},
		{"order", "REFUNDED", "ship", "", "", "", "", "reject", "", "", "", "", ""},
		{"order", "COMPLETED", "ship", "", "", "", "", "replay", "", "", "", "", ""},
		{"order", "REFUNDED", "expire", "", "", "", "", "ignore", "", "", "", "", ""},
	} {
		require.True(t, slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }), "%q", want)
	}
	people := render(t, read(t, "../../definitions/order.yaml"), "csv-excel", "zh")["order-excel.csv"]
	require.True(t, strings.HasPrefix(people, "\uFEFF状态,状态名称,事件,事件名称,分支,条件,结果,目标状态,写入,发出,备注\r\n"))
	require.Contains(t, people, "PAYING,支付中,query_payment,,,,流转,PAYING,,payment_query_due,15 分钟后自动发生，最多 20 次\r\n")
	require.Equal(t, rows, records(t, render(t, read(t, "../../definitions/order.yaml"), "csv", "en")["order.csv"]), "programs are told the same in every language")
}

// Every way of every cell is one row, in order, in both lists and in the workbook.
func TestListsHaveEveryWayOfEveryCell(t *testing.T) {
	t.Parallel()
	for _, path := range paths(t) {
		m := read(t, path)
		var want [][]string
		for i, s := range m.States {
			for _, e := range m.Events {
				for _, tr := range e.Cells[i].Transitions {
					want = append(want, []string{s.Name, e.Name, "moves", tr.To.Name})
				}
				if c := e.Cells[i]; !c.Closed() {
					want = append(want, []string{s.Name, e.Name, c.Otherwise.String(), ""})
				}
			}
		}
		pick := func(rows [][]string, columns ...int) [][]string {
			var out [][]string
			for _, row := range rows[1:] {
				var line []string
				for _, c := range columns {
					if c < len(row) {
						line = append(line, row[c])
					} else {
						line = append(line, "")
					}
				}
				out = append(out, line)
			}
			return out
		}
		require.Equal(t, want, pick(records(t, render(t, m, "csv", "en")[m.Name+".csv"]), 1, 2, 7, 8))
		require.Equal(t, want, pick(records(t, render(t, m, "csv-excel", "en")[m.Name+"-excel.csv"]), 0, 2, 6, 7))
		rows, err := openBook(t, render(t, m, "xlsx", "en")[m.Name+".xlsx"]).GetRows("Cells")
		require.NoError(t, err)
		require.Equal(t, want, pick(rows, 0, 2, 6, 7))
	}
}

func openBook(t *testing.T, file string) *excelize.File {
	t.Helper()
	book, err := excelize.OpenReader(bytes.NewReader([]byte(file)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = book.Close() })
	return book
}

// xlsxCells reads the matrix sheet back.
func xlsxCells(t *testing.T, file string, m *model.Machine) map[cellKey]string {
	t.Helper()
	book := openBook(t, file)
	rows, err := book.GetRows(book.GetSheetList()[0])
	require.NoError(t, err)
	got := map[cellKey]string{}
	for _, row := range rows[1:] {
		for i, cell := range row[1:] {
			first, _, _ := strings.Cut(row[0], "\n")
			top, _, _ := strings.Cut(rows[0][i+1], "\n")
			key := cellKey{state: first, event: top}
			if len(m.States) <= len(m.Events) {
				key = cellKey{state: top, event: first}
			}
			require.NotContains(t, got, key)
			got[key] = cell
		}
	}
	return got
}

func TestTheWorkbooksMatrixIsReadBack(t *testing.T) {
	t.Parallel()
	for _, path := range paths(t) {
		m := read(t, path)
		got := xlsxCells(t, render(t, m, "xlsx", "en")[m.Name+".xlsx"], m)
		for key, cell := range got {
			got[key] = withoutDue(cell)
		}
		requireCells(t, m, got, func(c *model.Cell) string { return wants(c, described, true) })
	}
}

func TestTheWorkbookHasItsSheets(t *testing.T) {
	t.Parallel()
	m := read(t, "../../definitions/order.yaml")
	book := openBook(t, render(t, m, "xlsx", "en")["order.xlsx"])
	require.Equal(t, []string{"Matrix", "Cells", "States", "Events", "Guards", "Transitions", "Legend"}, book.GetSheetList())
	require.Equal(t, []string{"矩阵", "单元格", "状态", "事件", "条件", "流转", "图例"}, openBook(t, render(t, m, "xlsx", "zh")["order.xlsx"]).GetSheetList())
	panes, err := book.GetPanes("Matrix")
	require.NoError(t, err)
	require.True(t, panes.Freeze)
	require.Equal(t, "B2", panes.TopLeftCell)
	legend, err := book.GetRows("Legend")
	require.NoError(t, err)
	require.Equal(t, []string{"guarded", "the conditions in brackets are tried in this order, and the first true one is taken", "9"}, legend[2])
	head, err := book.GetCellValue("Matrix", "B1")
	require.NoError(t, err)
	require.Equal(t, "PENDING\nAwaiting payment\ninitial\nafter 30 minutes: expire", head)
}
