package shop

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
)

// shownSettings print as they are.
type shownSettings Settings

// shown returns the settings without what is nobody's business.
func (s Settings) shown() shownSettings {
	s.DatabaseURL, s.RedisURL, s.ProviderURL = shownURL(s.DatabaseURL), shownURL(s.RedisURL), shownURL(s.ProviderURL)
	s.StudioDatabaseURL = shownURL(s.StudioDatabaseURL)
	return shownSettings(s)
}

// shownURL is what may be seen of a URL. A text that is none, such as a line of
// keywords for PostgreSQL, may hold a password anywhere.
func shownURL(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return "[secret]"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Format prints the settings that may be seen. A verb that does not fit a text would
// have fmt print it without asking.
func (s Settings) Format(f fmt.State, verb rune) {
	if verb != 's' && verb != 'q' {
		verb = 'v'
	}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), s.shown())
}

// MarshalJSON returns the settings that may be seen.
func (s Settings) MarshalJSON() ([]byte, error) { return json.Marshal(s.shown()) }

// LogValue returns the settings that may be seen.
func (s Settings) LogValue() slog.Value { return slog.AnyValue(s.shown()) }
