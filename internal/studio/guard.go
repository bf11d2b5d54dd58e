package studio

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// NewToken returns a token that nobody can guess.
func NewToken() string { return rand.Text() }

// Loopback reports whether an address, host:port, is reached from this computer
// alone. A host without a name is all of them, and is not.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && loopback(host)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// hosts are those by which a browser may call us.
type hosts struct {
	// given is the host that is listened on; empty is for any, which is safe where a
	// token is asked for: the browser shows it to the host alone that it has it from.
	given string
	local bool
}

func hostsOf(o Options) (hosts, error) {
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return hosts{}, err
	}
	if !loopback(host) && o.Token == "" {
		return hosts{}, &NoTokenError{o.Addr}
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = ""
	}
	return hosts{given: host, local: loopback(host)}, nil
}

// allow reports whether the Host of a request is one of ours. Another name that
// leads to this computer may be that of a page which wants to read ours.
func (h hosts) allow(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	switch {
	case loopback(host):
		return true
	case h.local:
		return false
	}
	return h.given == "" || strings.EqualFold(host, h.given)
}

// guarded answers what must not go on, and sets the headers of all that does.
func (s *Studio) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", s.policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !s.hosts.allow(r.Host):
			http.Error(w, "this host is not the studio's: open the address that fsmgen studio printed", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		case s.options.Token == "":
			next.ServeHTTP(w, r)
		default:
			s.admit(w, r, next)
		}
	})
}

// cookieOf names the cookie that holds a pass. A browser shows a cookie to every port of a
// host, so each token has one of its own: two studios would else take each other's place.
func cookieOf(pass string) string { return "pawl-studio-" + pass[:12] }

// admit lets those in who have shown the token, and takes it out of the address of
// those who show it.
func (s *Studio) admit(w http.ResponseWriter, r *http.Request, next http.Handler) {
	pass := passOf(s.options.Token)
	query := r.URL.Query()
	if shown := query.Get("token"); shown != "" && same(passOf(shown), pass) {
		http.SetCookie(w, &http.Cookie{Name: cookieOf(pass), Value: pass, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		query.Del("token")
		to := *r.URL
		to.Scheme, to.Host, to.RawQuery = "", "", query.Encode()
		written := r.URL.EscapedPath()                 // a key may have a slash
		to.Path = "/" + strings.TrimLeft(to.Path, "/") // of this host, whatever the path looks like
		to.RawPath = "/" + strings.TrimLeft(written, "/")
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
		return
	}
	if c, err := r.Cookie(cookieOf(pass)); err == nil && same(c.Value, pass) {
		next.ServeHTTP(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/assets/") { // the page that refuses is to look like the others
		next.ServeHTTP(w, r)
		return
	}
	s.visit(w, r).refuse()
}

func passOf(token string) string {
	sum := sha256.Sum256([]byte("studio " + token))
	return hex.EncodeToString(sum[:])
}

func same(sent, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(sent), []byte(secret)) == 1
}
