package picture

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
)

// SliceName is the base name of the file that has a state's slice, numbered in
// the order of the states: order-07-Shipped. What is not ASCII in the state's
// identifier is left out, since not every system that unpacks a folder keeps
// it; the number tells names apart then, and where letter case does not count.
func SliceName(m *model.Machine, s *model.State) string {
	ascii := strings.Map(func(r rune) rune {
		if r < 0x80 {
			return r
		}
		return -1
	}, s.Ident)
	name := fmt.Sprintf("%s-%0*d", m.Name, len(fmt.Sprint(len(m.States))), s.Index+1)
	if ascii != "" {
		name += "-" + ascii
	}
	return name
}
