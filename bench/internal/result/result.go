// Package result is what a run of the benchmark found, as it is kept.
package result

import (
	"time"

	"github.com/pawl-go/pawl/bench/internal/stat"
	"github.com/pawl-go/pawl/bench/internal/stock"
)

// All is one run.
type All struct {
	// Seed gives the orders of the rounds.
	Seed uint64 `json:"seed"`
	// Rounds and Seconds are how often, and how long, each contender ran in a
	// comparison.
	Rounds      int          `json:"rounds"`
	Seconds     float64      `json:"seconds"`
	Machine     Machine      `json:"machine"`
	Comparisons []Comparison `json:"comparisons"`
	Figures     []Figure     `json:"figures"`
	Goals       []Goal       `json:"goals"`
}

// Machine describes where it ran, without names and paths.
type Machine struct {
	CPU        string    `json:"cpu"`
	Cores      int       `json:"cores"`
	Memory     string    `json:"memory"`
	OS         string    `json:"os"`
	Go         string    `json:"go"`
	PostgreSQL string    `json:"postgresql"`
	Settings   []Setting `json:"settings"`
}

// Setting is one of the server's.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Load is what contenders are compared by.
type Load struct {
	Kind    string        `json:"kind"`
	Event   string        `json:"event"`
	Callers int           `json:"callers"`
	Delay   time.Duration `json:"delay_ns"`
}

// Comparison is some contenders under one load.
type Comparison struct {
	Load Load `json:"load"`
	// Unit is that of the samples: more is better for a rate, less for a time.
	Unit string `json:"unit"`
	Rows []Row  `json:"rows"`
}

// Row is one contender of a comparison.
type Row struct {
	Contender string `json:"contender"`
	Writes    string `json:"writes"`
	// Samples are one a round, in the order of the rounds.
	Samples []float64    `json:"samples"`
	Sum     stat.Summary `json:"sum"`
	// Counts is what the database had afterwards of all orders that the contender
	// was told of.
	Counts stock.Counts `json:"counts"`
	// Failed says why the contender has no samples.
	Failed string `json:"failed,omitempty"`
}

// Figure is something that was measured for itself.
type Figure struct {
	Name    string       `json:"name"`
	Unit    string       `json:"unit"`
	Samples []float64    `json:"samples"`
	Sum     stat.Summary `json:"sum"`
	Note    string       `json:"note,omitempty"`
}

// Goal is a goal and how it was judged.
type Goal struct {
	Text string `json:"text"`
	// Want is what Got must be at least, or at most.
	Want   float64      `json:"want"`
	AtMost bool         `json:"at_most"`
	Unit   string       `json:"unit"`
	Got    stat.Summary `json:"got"`
	Note   string       `json:"note,omitempty"`
	// Judged says that the run has measured it.
	Judged bool `json:"judged"`
	Met    bool `json:"met"`
}

// Of finds the comparison of a load.
func (a *All) Of(load Load) (Comparison, bool) {
	for _, c := range a.Comparisons {
		if c.Load == load {
			return c, true
		}
	}
	return Comparison{}, false
}

// Samples are those of a contender, nil when it was not measured.
func (c Comparison) Samples(contender string) []float64 {
	for _, row := range c.Rows {
		if row.Contender == contender {
			return row.Samples
		}
	}
	return nil
}

// Figure finds a figure by its name.
func (a *All) Figure(name string) (Figure, bool) {
	for _, f := range a.Figures {
		if f.Name == name {
			return f, true
		}
	}
	return Figure{}, false
}

// Add keeps figures.
func (a *All) Add(figures ...Figure) {
	for _, f := range figures {
		f.Sum = stat.Of(f.Samples)
		a.Figures = append(a.Figures, f)
	}
}
