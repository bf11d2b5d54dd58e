package relay

import (
	"math/rand/v2"
	"time"
)

// pauses are the parts of Relay.Every that a relay waits after its nth round in
// a row that found nothing.
var pauses = [...]time.Duration{100, 50, 25, 12, 6, 3, 1}

// pause is how long to wait after so many idle rounds.
func pause(every time.Duration, idle int) time.Duration {
	return jitter(every / pauses[min(max(idle, 0), len(pauses)-1)])
}

const (
	firstBackoff = time.Second
	lastBackoff  = 5 * time.Minute
)

// backoff is the pause after the nth try of a message: min(5 min, 1 s · 2^(n−1)),
// less a random part of up to a half.
func backoff(tries int) time.Duration {
	d := firstBackoff
	for range min(tries-1, 20) {
		d = min(2*d, lastBackoff)
	}
	return jitter(d)
}

// jitter draws from the upper half of d, so that relays that stopped together do
// not come back together.
func jitter(d time.Duration) time.Duration {
	if d < 2 {
		return d
	}
	return d - rand.N(d/2)
}
