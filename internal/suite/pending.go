package suite

import "github.com/pawl-go/pawl/internal/model"

// AllCells, Guards and Races are being written.
func AllCells(m *model.Machine) *Suite { return &Suite{Machine: m, Name: "all-cells"} }
func Guards(m *model.Machine) *Suite   { return &Suite{Machine: m, Name: "guards"} }
func Races(m *model.Machine) *Suite    { return &Suite{Machine: m, Name: "races"} }
