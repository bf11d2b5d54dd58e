package shop

import (
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limit bounds how often one client may ask. The zero value bounds nobody.
type Limit struct {
	// PerSecond is how many requests a second a client may make for long, Burst how
	// many at once; Burst below 1 is as many as PerSecond, and at least 1.
	PerSecond float64
	Burst     int
}

// maxClients bounds what a limiter keeps in memory. Those who come when it is full
// of clients that ask much share one place: they are told to wait sooner than others.
const maxClients = 10_000

// limiter bounds each client by itself. It is safe for concurrent use. A nil one lets
// everybody through.
type limiter struct {
	limit rate.Limit
	burst int

	mu      sync.Mutex
	clients map[string]*rate.Limiter
	others  *rate.Limiter
}

func newLimiter(l Limit) *limiter {
	if l.PerSecond <= 0 {
		return nil
	}
	burst := l.Burst
	if burst < 1 {
		burst = max(1, int(math.Ceil(l.PerSecond)))
	}
	return &limiter{
		limit: rate.Limit(l.PerSecond), burst: burst,
		clients: map[string]*rate.Limiter{}, others: rate.NewLimiter(rate.Limit(l.PerSecond), burst),
	}
}

// wait is how long the client has to wait before it may ask again, 0 for not at all.
// Who is told to wait has used nothing up. One client at a time: a time that comes after
// a later one would be counted again, and a place that is given back behind another is
// lost.
func (l *limiter) wait(client string, clock func() time.Time) time.Duration {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := clock()
	r := l.of(client, now).ReserveN(now, 1)
	d := r.DelayFrom(now)
	if d > 0 {
		r.CancelAt(now)
	}
	return d
}

// of is the client's limiter; the caller holds mu.
func (l *limiter) of(client string, now time.Time) *rate.Limiter {
	if one := l.clients[client]; one != nil {
		return one
	}
	if len(l.clients) >= maxClients {
		l.forget(now)
	}
	if len(l.clients) >= maxClients {
		return l.others
	}
	one := rate.NewLimiter(l.limit, l.burst)
	l.clients[client] = one
	return one
}

// forget drops the clients that have been quiet for so long that they are as new.
func (l *limiter) forget(now time.Time) {
	for name, one := range l.clients {
		if one.TokensAt(now) >= float64(l.burst) {
			delete(l.clients, name)
		}
	}
}

// clientOf is who asks: the address of the connection, of IPv6 the network that one
// customer has. Behind a proxy it is the proxy's, and then a limit belongs there: a
// header that says otherwise is the client's own word.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		if network, err := addr.Prefix(64); err == nil {
			return network.String()
		}
	}
	return addr.String()
}

// unlimited are asked by those who look after the service, whoever storms it.
func unlimited(pattern string) bool {
	return pattern == "GET /healthz" || pattern == "GET /readyz"
}

// tooMany tells a client that asks too often when to come again, and reports whether
// it did. Nothing has been read or stored by then: the same request later is the first,
// and a provider tells its callback again for any status that is no success.
func (s *Service) tooMany(w http.ResponseWriter, r *http.Request, pattern string) bool {
	limits := s.limits
	if strings.HasPrefix(pattern, callbacks) {
		limits = s.callbackLimits
	}
	if unlimited(pattern) {
		return false
	}
	d := limits.wait(clientOf(r), s.now)
	if d <= 0 {
		return false
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(d.Seconds()))))
	writeProblem(w, problem{Status: http.StatusTooManyRequests, Detail: "too many requests from this address; the same again is safe"})
	return true
}
