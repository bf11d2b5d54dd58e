package webhook

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// CertFetcher fetches what is at a URL of PayPal's, as PEM, over TLS. It should
// read at most a few KiB and follow no redirect to another host. It may be
// called by several goroutines at once.
type CertFetcher func(ctx context.Context, url string) ([]byte, error)

// Bounds of what forged callbacks can make a verifier fetch and keep.
const (
	maxCerts       = 16
	maxCertBytes   = 64 << 10
	certKept       = 24 * time.Hour
	certFailedKept = time.Minute
	maxFetches     = 20 // within fetchWindow
	fetchWindow    = time.Minute
)

// badCertURL says why a certificate may not be fetched from there, or nothing.
func badCertURL(text string, sandbox bool) string {
	host := "api.paypal.com"
	if sandbox {
		host = "api.sandbox.paypal.com"
	}
	if len(text) > maxIDBytes {
		return "too long"
	}
	path, ok := strings.CutPrefix(text, "https://"+host+"/")
	if !ok {
		return "not at the provider's host"
	}
	name, ok := strings.CutPrefix(path, "v1/notifications/certs/")
	if !ok || name == "" || strings.Trim(name, "-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "not the address of a certificate"
	}
	return ""
}

// certCache keeps certificates by URL, and failures for a moment. Its clock is
// the caller's.
type certCache struct {
	fetch CertFetcher
	roots *x509.CertPool
	told  []string // addresses that are known from the beginning

	mu      sync.Mutex
	entries map[string]*certEntry
	met     []string  // addresses that genuine callbacks named, the last maxCerts
	began   time.Time // of the window that fetched counts
	fetched int       // of addresses that are not known
}

type certEntry struct {
	ready chan struct{} // closed when the others are set
	key   *rsaKey
	until time.Time
	err   error
}

// has tells whether a key is kept.
func (c *certCache) has(url string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[url]
	return e != nil && e.done() && e.err == nil && now.Before(e.until)
}

// done tells whether the fetch has ended.
func (e *certEntry) done() bool {
	select {
	case <-e.ready:
		return true
	default:
		return false
	}
}

// key returns the key at url. Callers at once share one fetch.
func (c *certCache) key(ctx context.Context, url string, now time.Time) (*rsaKey, error) {
	entry, mine, err := c.enter(url, now)
	if err != nil {
		return nil, err
	}
	if mine {
		entry.load(ctx, c, url, now)
	}
	select {
	case <-entry.ready:
		return entry.key, entry.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrKeySource, ctx.Err())
	}
}

// enter returns the entry for url and whether the caller is to load it.
func (c *certCache) enter(url string, now time.Time) (*certEntry, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[url]; e != nil && (!e.done() || now.Before(e.until)) {
		return e, false, nil
	}
	if !slices.Contains(c.told, url) && !slices.Contains(c.met, url) {
		if now.Sub(c.began).Abs() >= fetchWindow {
			c.began, c.fetched = now, 0
		}
		if c.fetched >= maxFetches {
			return nil, false, fmt.Errorf("%w: too many certificates asked for", ErrKeySource)
		}
		c.fetched++
	}
	if c.entries == nil {
		c.entries = map[string]*certEntry{}
	}
	c.makeRoom()
	e := &certEntry{ready: make(chan struct{})}
	c.entries[url] = e
	return e, true, nil
}

// genuine remembers the address that a genuine callback named: forged ones cannot use
// up its fetches.
func (c *certCache) genuine(url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.met, url) {
		return
	}
	if len(c.met) == maxCerts {
		c.met = slices.Delete(c.met, 0, 1)
	}
	c.met = append(c.met, url)
}

// makeRoom drops a failure, or else the one that would end first. An entry that
// is being loaded stays.
func (c *certCache) makeRoom() {
	if len(c.entries) < maxCerts {
		return
	}
	var victim string
	for url, e := range c.entries {
		if !e.done() {
			continue
		}
		v := c.entries[victim]
		if v == nil || (e.err != nil) && v.err == nil || (e.err != nil) == (v.err != nil) && e.until.Before(v.until) {
			victim = url
		}
	}
	delete(c.entries, victim)
}

// load fetches and reads the certificate, and closes ready whatever happens.
func (e *certEntry) load(ctx context.Context, c *certCache, url string, now time.Time) {
	defer close(e.ready)
	e.until, e.err = now.Add(certFailedKept), ErrKeySource
	raw, err := c.fetch(ctx, url)
	if err != nil {
		if e.err = fmt.Errorf("%w: %w", ErrKeySource, err); ctx.Err() != nil {
			e.until = now // one caller's haste is no fault of the host
		}
		return
	}
	key, until, err := readCert(raw, c.roots, now)
	if err != nil {
		e.err = fmt.Errorf("%w: %w", ErrKeySource, err)
		return
	}
	e.key, e.err = key, nil
	if e.until = now.Add(certKept); until.Before(e.until) {
		e.until = until
	}
}

// readCert reads the first certificate of a chain in PEM and checks its time
// and, with roots, where it leads.
func readCert(raw []byte, roots *x509.CertPool, now time.Time) (*rsaKey, time.Time, error) {
	if len(raw) > maxCertBytes {
		return nil, time.Time{}, errors.New("it is too large")
	}
	block, rest := pem.Decode(raw)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, time.Time{}, errors.New("it is no certificate")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, time.Time{}, errors.New("it is no certificate")
	}
	if now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return nil, time.Time{}, errors.New("the certificate is not valid at this time")
	}
	if roots != nil {
		between := x509.NewCertPool()
		between.AppendCertsFromPEM(rest)
		if _, err := leaf.Verify(x509.VerifyOptions{
			Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
		}); err != nil {
			return nil, time.Time{}, errors.New("the certificate leads to no known root")
		}
	}
	key, wrong := usable(leaf.PublicKey)
	if wrong != nil {
		return nil, time.Time{}, errors.New(wrong.Reason)
	}
	return key, leaf.NotAfter, nil
}
