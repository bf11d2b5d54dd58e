package shop

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// Settings are what a program that runs the service reads from its environment. They
// can be printed, encoded and logged: secrets are placeholders, and URLs are shown
// without users, passwords and parameters.
type Settings struct {
	// Addr is where to listen: ADDR, 127.0.0.1:8080 unless set.
	Addr string
	// AdminAddr is where to serve metrics, /healthz and /readyz: ADMIN_ADDR, "off" for
	// nowhere; unless set 127.0.0.1:9464, and a free port where Addr asks for one too.
	AdminAddr string
	// DatabaseURL names the database: DATABASE_URL, empty for none.
	DatabaseURL string
	// RedisURL names a Redis for the locks of orders: REDIS_URL, as
	// redis://127.0.0.1:6379; empty for none. It is speed: the service is right
	// without it, and while it is away.
	RedisURL string
	// Standard and Stripe are the secrets of callbacks, several of each while one
	// replaces another: WEBHOOK_SECRET_STANDARD and WEBHOOK_SECRET_STRIPE,
	// separated by commas. Without any, callbacks of the scheme are not served.
	Standard, Stripe []webhook.Secret
	// ProviderURL and ProviderToken name the provider that gives money back, and
	// what it knows us by: PROVIDER_URL, as https://provider.example/v1, and
	// PROVIDER_TOKEN; empty for none. ProviderTimeout bounds one call:
	// PROVIDER_TIMEOUT, 10s unless set.
	ProviderURL     string
	ProviderToken   webhook.Secret
	ProviderTimeout time.Duration
	// Alipay and WeChat are of those that sign otherwise.
	Alipay AlipaySettings
	WeChat WeChatSettings
	// ShutdownTimeout is how long requests may finish after a signal:
	// SHUTDOWN_TIMEOUT, 15s unless set.
	ShutdownTimeout time.Duration
	// SweepEvery is the pause between sweeps of deadlines, and between rounds of
	// provider calls: SWEEP_EVERY, 1s unless set.
	SweepEvery time.Duration
	// Fsmgen is the program that shows the studio beside the service: FSMGEN, a path;
	// empty for no studio. StudioAddr is where: STUDIO_ADDR, "off" for nowhere; unless
	// set 127.0.0.1:7295, and a free port where Addr asks for one too. StudioDatabaseURL
	// names the database as the studio reads it, by a login that may only read:
	// STUDIO_DATABASE_URL; empty for DatabaseURL.
	Fsmgen, StudioAddr, StudioDatabaseURL string
	// Limit and CallbackLimit bound what one address may ask a second: RATE_LIMIT, 50
	// unless set, and RATE_LIMIT_CALLBACKS, 1000 unless set; 0 for no bound. At once it
	// may be twice as much.
	Limit, CallbackLimit Limit
}

// maxRate is more than one process can serve.
const maxRate = 1e6

// SettingError says which setting cannot be used, and why. It does not hold the
// value: it may be a secret.
type SettingError struct {
	Name, Reason string
}

// Error names the setting and the reason.
func (e *SettingError) Error() string { return e.Name + " " + e.Reason }

// ReadSettings reads the settings through getenv, which returns "" for what is
// not set, as os.Getenv does. The error joins a SettingError for each bad value.
func ReadSettings(getenv func(string) string) (Settings, error) {
	var (
		s    Settings
		errs []error
	)
	refuse := func(name, reason string) { errs = append(errs, &SettingError{name, reason}) }
	s.Addr = getenv("ADDR")
	if s.Addr == "" {
		s.Addr = "127.0.0.1:8080"
	}
	if _, _, err := net.SplitHostPort(s.Addr); err != nil {
		refuse("ADDR", "is not host:port, such as 127.0.0.1:8080")
	}
	s.AdminAddr = addrBeside(getenv("ADMIN_ADDR"), s.Addr, "127.0.0.1:9464")
	if _, _, err := net.SplitHostPort(s.AdminAddr); err != nil && s.AdminAddr != "" {
		refuse("ADMIN_ADDR", "is not host:port, such as 127.0.0.1:9464, nor off")
	}
	s.Fsmgen, s.StudioDatabaseURL = getenv("FSMGEN"), getenv("STUDIO_DATABASE_URL")
	s.StudioAddr = addrBeside(getenv("STUDIO_ADDR"), s.Addr, "127.0.0.1:7295")
	if _, _, err := net.SplitHostPort(s.StudioAddr); err != nil && s.StudioAddr != "" {
		refuse("STUDIO_ADDR", "is not host:port, such as 127.0.0.1:7295, nor off")
	}
	s.DatabaseURL = getenv("DATABASE_URL")
	s.RedisURL = getenv("REDIS_URL")
	if u, err := url.Parse(s.RedisURL); s.RedisURL != "" && (err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Host == "") {
		refuse("REDIS_URL", "is not a URL such as redis://127.0.0.1:6379")
	}
	duration := func(name string, fallback time.Duration) time.Duration {
		text := getenv(name)
		if text == "" {
			return fallback
		}
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			refuse(name, "is not a positive duration, such as 15s")
		}
		return d
	}
	s.ShutdownTimeout = duration("SHUTDOWN_TIMEOUT", 15*time.Second)
	s.SweepEvery = duration("SWEEP_EVERY", time.Second)
	limit := func(name string, fallback float64) Limit {
		n, text := fallback, getenv(name)
		if text != "" {
			var err error
			if n, err = strconv.ParseFloat(text, 64); err != nil || !(n >= 0 && n <= maxRate) {
				refuse(name, "is not a number of requests a second, such as 50, or 0 for no bound")
			}
		}
		return Limit{PerSecond: n, Burst: int(2 * n)}
	}
	s.Limit, s.CallbackLimit = limit("RATE_LIMIT", 50), limit("RATE_LIMIT_CALLBACKS", 1000)
	s.ProviderURL, s.ProviderToken = getenv("PROVIDER_URL"), webhook.NewSecret(getenv("PROVIDER_TOKEN"))
	s.ProviderTimeout = duration("PROVIDER_TIMEOUT", 10*time.Second)
	if _, err := s.Refunds(); err != nil {
		errs = append(errs, err)
	}

	s.Standard = secrets(getenv("WEBHOOK_SECRET_STANDARD"))
	s.Stripe = secrets(getenv("WEBHOOK_SECRET_STRIPE"))
	if _, _, err := s.Verifiers(); err != nil {
		errs = append(errs, err)
	}
	var err error
	if s.Alipay, err = readAlipay(getenv); err != nil {
		errs = append(errs, err)
	}
	if s.WeChat, err = readWeChat(getenv); err != nil {
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

// addrBeside is where a port beside the service's is, "" for nowhere.
func addrBeside(set, addr, usually string) string {
	_, port, _ := net.SplitHostPort(addr)
	switch {
	case set == "off":
		return ""
	case set != "":
		return set
	case port == "0":
		return "127.0.0.1:0"
	}
	return usually
}

// listed splits a list; an empty item stays, to be refused.
func listed(list string) []string {
	if list == "" {
		return nil
	}
	var out []string
	for item := range strings.SplitSeq(list, ",") {
		out = append(out, strings.TrimSpace(item))
	}
	return out
}

func secrets(list string) []webhook.Secret {
	var out []webhook.Secret
	for _, item := range listed(list) {
		out = append(out, webhook.NewSecret(item))
	}
	return out
}

// Refunds returns the provider of refunds, nil where none is set. The error is a
// SettingError.
func (s Settings) Refunds() (RefundProvider, error) {
	if s.ProviderURL == "" {
		return nil, nil
	}
	api, err := NewRefundAPI(s.ProviderURL, s.ProviderToken)
	if err != nil { // a nil *RefundAPI in the interface would be a provider
		return nil, err
	}
	return api, nil
}

// Verifiers returns a verifier for each scheme that has secrets, and nil for one
// that has none. The errors are SettingErrors.
func (s Settings) Verifiers() (standard, stripe webhook.Verifier, err error) {
	var errs []error
	// A nil *Standard in the interface would be a verifier; hence the tests.
	if len(s.Standard) > 0 {
		if v, err := webhook.NewStandard(s.Standard); err == nil {
			standard = v
		} else {
			errs = append(errs, &SettingError{"WEBHOOK_SECRET_STANDARD", fmt.Sprintf("cannot be used: %v", err)})
		}
	}
	if len(s.Stripe) > 0 {
		if v, err := webhook.NewStripe(s.Stripe); err == nil {
			stripe = v
		} else {
			errs = append(errs, &SettingError{"WEBHOOK_SECRET_STRIPE", fmt.Sprintf("cannot be used: %v", err)})
		}
	}
	return standard, stripe, errors.Join(errs...)
}
