package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

func TestWindow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after   time.Duration // of the caller's clock, after the time stamp
		options []webhook.Option
		stale   bool
		text    string
	}{
		"same second":           {after: 0},
		"300 s old":             {after: 300 * time.Second},
		"301 s old":             {after: 301 * time.Second, stale: true, text: "5m1s in the past, at most 5m0s"},
		"a nanosecond too old":  {after: 300*time.Second + 1, stale: true, text: "in the past"},
		"300 s ahead":           {after: -300 * time.Second},
		"301 s ahead":           {after: -301 * time.Second, stale: true, text: "5m1s in the future, at most 5m0s"},
		"centuries old":         {after: 1 << 62, stale: true, text: "in the past"},
		"wider, 10 min old":     {after: 10 * time.Minute, options: []webhook.Option{webhook.WithTolerance(10 * time.Minute)}},
		"narrower, 61 s old":    {after: 61 * time.Second, options: []webhook.Option{webhook.WithTolerance(time.Minute)}, stale: true, text: "at most 1m0s"},
		"narrower, 61 s ahead":  {after: -61 * time.Second, options: []webhook.Option{webhook.WithTolerance(time.Minute)}, stale: true, text: "at most 1m0s"},
		"a nil option, 301 old": {after: 301 * time.Second, options: []webhook.Option{nil}, stale: true, text: "at most 5m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			standard, err := webhook.NewStandard(webhook.Secrets(stdSecret), c.options...)
			require.NoError(t, err)
			stripe, err := webhook.NewStripe(webhook.Secrets(stripeSecret), c.options...)
			require.NoError(t, err)

			now := stdTime.Add(c.after)
			d, err := standard.Verify(stdHeader(stdSignature), []byte(stdBody), now)
			requireWindow(t, d, err, c.stale, stdTime, now, c.text)
			now = stripeTime.Add(c.after)
			d, err = stripe.Verify(stripeHeader("t=1492774577,"+stripeV1), []byte(stripeBody), now)
			requireWindow(t, d, err, c.stale, stripeTime, now, c.text)
		})
	}
}

func requireWindow(t *testing.T, d webhook.Delivery, err error, stale bool, stamp, now time.Time, text string) {
	t.Helper()
	if !stale {
		require.NoError(t, err)
		require.Equal(t, stamp.UTC(), d.Timestamp)
		return
	}
	require.Zero(t, d)
	require.ErrorIs(t, err, webhook.ErrStale)
	require.ErrorContains(t, err, text)
	var e *webhook.StaleError
	require.ErrorAs(t, err, &e)
	require.Equal(t, stamp.UTC(), e.Timestamp)
	require.Equal(t, now, e.Now)
	require.Equal(t, stamp.After(now), e.Future())
}

// A stamp far from the caller's clock must not wrap round into the window.
func TestWindowDoesNotWrap(t *testing.T) {
	t.Parallel()
	v := newStripe(t, stripeSecret)
	for _, now := range []time.Time{{}, time.Unix(1<<62, 0), time.Unix(-1<<62, 0)} {
		_, err := v.Verify(stripeHeader("t=1492774577,"+stripeV1), []byte(stripeBody), now)
		require.ErrorIs(t, err, webhook.ErrStale)
	}
}

// A forged callback is told as forged, however old it is.
func TestStaleIsGenuine(t *testing.T) {
	t.Parallel()
	late := stdTime.Add(time.Hour)
	_, err := newStandard(t, stdSecret).Verify(stdHeader(stdForged), []byte(stdBody), late)
	require.ErrorIs(t, err, webhook.ErrSignature)
	require.NotErrorIs(t, err, webhook.ErrStale)
	_, err = newStripe(t, stripeSecret).Verify(stripeHeader("t=1492774577,"+stripeForged), []byte(stripeBody), late)
	require.ErrorIs(t, err, webhook.ErrSignature)
}

func TestToleranceMustBePositive(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, -time.Second} {
		_, err := webhook.NewStandard(webhook.Secrets(stdSecret), webhook.WithTolerance(d))
		require.ErrorIs(t, err, webhook.ErrTolerance)
		_, err = webhook.NewStripe(webhook.Secrets(stripeSecret), webhook.WithTolerance(d))
		require.ErrorIs(t, err, webhook.ErrTolerance)
	}
}

// It is said whatever option comes behind; a later one of the same kind wins.
func TestMaxAgeMustBePositive(t *testing.T) {
	t.Parallel()
	bad, fine := webhook.WithMaxAge(-time.Second), webhook.WithTolerance(5*time.Minute)
	for name, c := range map[string]struct {
		options []webhook.Option
		want    error
	}{
		"alone":            {[]webhook.Option{bad}, webhook.ErrTolerance},
		"none":             {[]webhook.Option{webhook.WithMaxAge(0)}, webhook.ErrTolerance},
		"before another":   {[]webhook.Option{bad, fine}, webhook.ErrTolerance},
		"behind another":   {[]webhook.Option{fine, bad}, webhook.ErrTolerance},
		"put right":        {[]webhook.Option{bad, webhook.WithMaxAge(time.Hour)}, nil},
		"tolerance right":  {[]webhook.Option{webhook.WithTolerance(-1), fine}, nil},
		"tolerance is not": {[]webhook.Option{webhook.WithMaxAge(time.Hour), webhook.WithTolerance(-1)}, webhook.ErrTolerance},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := webhook.NewStripe(webhook.Secrets(stripeSecret), c.options...)
			require.ErrorIs(t, err, c.want)
			_, err = webhook.NewAlipay(alipayApp, []webhook.PublicKey{webhook.PublicKey(rsaPublic)}, c.options...)
			require.ErrorIs(t, err, c.want)
		})
	}
}
