// Package stat sums up samples of a measurement.
package stat

import "slices"

// Summary is what remains of some samples. The zero value is that of none.
type Summary struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	// Low and High are the quartiles.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// Of sums up samples, which stay as they are.
func Of(samples []float64) Summary {
	if len(samples) == 0 {
		return Summary{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	return Summary{
		N: len(sorted), Min: sorted[0], Max: sorted[len(sorted)-1],
		Low: quantile(sorted, 0.25), Median: quantile(sorted, 0.5), High: quantile(sorted, 0.75),
	}
}

// quantile interpolates between the two nearest of sorted samples: type 7 of
// Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := at - float64(below)
	return sorted[below]*(1-part) + sorted[below+1]*part
}

// Ratios divides round by round, as far as both have rounds: what slows the
// machine down for a round slows both. A round in which b is 0 is left out.
func Ratios(a, b []float64) []float64 {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if b[i] != 0 {
			ratios = append(ratios, a[i]/b[i])
		}
	}
	return ratios
}
