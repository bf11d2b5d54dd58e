package picture_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

func TestSliceNamesAreNumberedAndPlain(t *testing.T) {
	t.Parallel()
	m := &model.Machine{Name: "order"}
	for i, ident := range []string{"Paid", "PAID", "已付", "Å5", "E", "F", "G", "H", "I", "J"} {
		m.States = append(m.States, &model.State{Ident: ident, Index: i})
	}
	var names []string
	for _, s := range m.States[:4] {
		names = append(names, picture.SliceName(m, s))
	}
	require.Equal(t, []string{"order-01-Paid", "order-02-PAID", "order-03", "order-04-5"}, names)
}
