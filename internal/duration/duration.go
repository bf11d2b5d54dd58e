// Package duration reads and writes durations as definitions and flags have
// them: Go's, with days before the rest. How long one may be is its reader's business.
package duration

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

var dayPart = regexp.MustCompile(`^([0-9]{1,6})d(.*)$`)

// Parse returns the duration that text says, such as 30m, 10d or 1d12h, and
// whether it says one. None is negative, and none is above what a
// time.Duration holds.
func Parse(text string) (time.Duration, bool) {
	var days time.Duration
	if m := dayPart.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > int(math.MaxInt64/day) {
			return 0, false
		}
		days, text = time.Duration(n)*day, m[2]
		if text == "" {
			return days, true
		}
		if text[0] == '-' || text[0] == '+' {
			return 0, false
		}
	}
	rest, err := time.ParseDuration(text)
	if err != nil || rest < 0 || rest > math.MaxInt64-days {
		return 0, false
	}
	return days + rest, true
}

// Format writes a duration so that Parse reads it again: whole days as such,
// else as Go does, without the units that are zero.
func Format(d time.Duration) string {
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	if d%time.Minute == 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d%time.Hour == 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
