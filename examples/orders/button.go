package main

import (
	"crypto/rand"
	"crypto/subtle"
	"log/slog"
	"net"
	"net/http"
	"net/netip"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/examples/orders/storm"
)

// button is the address by which a storm is asked for. A token in it stands in the place
// of a cookie, so that no other page can press it. Who has it may press: the studio has.
type button struct {
	token string
	press func() (goesOn bool)
}

// newButton returns the storm of a service that listens at addr, and its button. The
// service believes the provider by the secrets of the settings.
func newButton(settings shop.Settings, addr string, log *slog.Logger) (*storm.Live, *button, error) {
	provider, err := storm.ProviderWith(settings.Standard[0], settings.Stripe[0])
	if err != nil {
		return nil, nil, err
	}
	live := storm.NewLive(storm.LiveOptions{URL: "http://" + within(addr), Provider: provider, Log: log})
	return live, &button{token: rand.Text(), press: live.Press}, nil
}

// url is the button's address on the operator's port.
func (b *button) url(admin string) string { return "http://" + within(admin) + "/storm/" + b.token }

// ServeHTTP answers 204, which leaves a page where it is, and 403 to who has another token.
func (b *button) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.PathValue("token")), []byte(b.token)) != 1 {
		http.Error(w, "this is not the storm's address of this run: the program has printed it, and the studio's button has it", http.StatusForbidden)
		return
	}
	b.press()
	w.WriteHeader(http.StatusNoContent)
}

// within is an address by which this computer reaches what listens at addr.
func within(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
