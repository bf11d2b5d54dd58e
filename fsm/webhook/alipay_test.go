package webhook_test

import (
	"maps"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

const alipayApp = "2021000000000001"

var alipayAt = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// alipayValues are those that the vector signs.
func alipayValues() map[string]string {
	return map[string]string{
		"app_id": alipayApp, "body": "Salt & pepper=1", "charset": "utf-8", "gmt_payment": "2026-03-04 13:06:00",
		"notify_id": "ac05099524730693a8b330c5ecf72da978", "notify_time": "2026-03-04 13:06:07",
		"notify_type": "trade_status_sync", "out_trade_no": "0a000000-0000-4000-8000-00000000000a", "passback_params": "",
		"seller_id": "2088101106499364", "subject": "大乐透", "total_amount": "88.88", "trade_no": "2026030422001",
		"trade_status": "TRADE_SUCCESS", "version": "1.0",
	}
}

func alipayForm(values map[string]string, signature string) []byte {
	form := url.Values{"sign": {signature}, "sign_type": {"RSA2"}}
	for name, value := range values {
		form.Set(name, value)
	}
	return []byte(form.Encode())
}

func newAlipay(t testing.TB, options ...webhook.Option) *webhook.Alipay {
	t.Helper()
	_, ours := ourPEM(t)
	v, err := webhook.NewAlipay(alipayApp, []webhook.PublicKey{ours, webhook.PublicKey(rsaPublic)}, options...)
	require.NoError(t, err)
	return v
}

func TestAlipayVector(t *testing.T) {
	t.Parallel()
	body := alipayForm(alipayValues(), alipayVector)
	d, err := newAlipay(t, webhook.WithSeller("2088101106499364")).Verify(nil, body, alipayAt)
	require.NoError(t, err)
	require.Equal(t, webhook.Delivery{ID: "ac05099524730693a8b330c5ecf72da978", Timestamp: alipayAt, Secret: 1}, d)

	n, err := webhook.ParseAlipay(body)
	require.NoError(t, err)
	require.Equal(t, "0a000000-0000-4000-8000-00000000000a", n.OutTradeNo)
	require.Equal(t, "TRADE_SUCCESS", n.TradeStatus)
	subject, ok := n.Get("subject")
	require.True(t, ok)
	require.Equal(t, "大乐透", subject)
	got, err := n.TotalCents()
	require.NoError(t, err)
	require.Equal(t, int64(8888), got)
}

func TestAlipayRefuses(t *testing.T) {
	t.Parallel()
	with := func(name, value string) []byte {
		values := alipayValues()
		values[name] = value
		return alipayForm(values, alipayVector)
	}
	without := func(name string) []byte {
		values := alipayValues()
		delete(values, name)
		return alipayForm(values, alipayVector)
	}
	// "gmt_payment" hidden in "charset", its neighbour: the signed text is the same.
	hidden := alipayValues()
	hidden["charset"] += "&gmt_payment=" + hidden["gmt_payment"]
	delete(hidden, "gmt_payment")
	good := string(alipayForm(alipayValues(), alipayVector))
	for name, c := range map[string]struct {
		body []byte
		want error
	}{
		"amount":              {with("total_amount", "0.01"), webhook.ErrSignature},
		"a parameter more":    {with("x", ""), webhook.ErrSignature},
		"a parameter less":    {without("version"), webhook.ErrSignature},
		"an empty one less":   {without("passback_params"), webhook.ErrSignature},
		"another app":         {with("app_id", "other"), webhook.ErrSignature},
		"RSA":                 {with("sign_type", "RSA"), webhook.ErrSignature},
		"no sign_type":        {with("sign_type", ""), webhook.ErrSignature},
		"no sign":             {with("sign", ""), webhook.ErrSignature},
		"sign with line end":  {with("sign", alipayVector+"\n"), webhook.ErrSignature},
		"repeated":            {[]byte(good + "&total_amount=88.88"), webhook.ErrMalformed},
		"repeated encoded":    {[]byte(good + "&%74otal_amount=1"), webhook.ErrMalformed},
		"hidden":              {alipayForm(hidden, alipayVector), webhook.ErrMalformed},
		"escape cut":          {[]byte(good + "&x=%2"), webhook.ErrMalformed},
		"not UTF-8":           {[]byte(good + "&x=%ff"), webhook.ErrMalformed},
		"no name":             {[]byte(good + "&=1"), webhook.ErrMalformed},
		"GBK":                 {with("charset", "GBK"), webhook.ErrMalformed},
		"no notify_id":        {without("notify_id"), webhook.ErrMalformed},
		"no notify_time":      {without("notify_time"), webhook.ErrMalformed},
		"nothing":             {nil, webhook.ErrMalformed},
		"JSON instead of it":  {[]byte(`{"a":1}`), webhook.ErrMalformed},
		"many parameters":     {manyParameters(), webhook.ErrMalformed},
		"notify_id with a NL": {with("notify_id", "a\nb"), webhook.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := newAlipay(t).Verify(nil, c.body, alipayAt)
			require.ErrorIs(t, err, c.want)
			require.Zero(t, d)
		})
	}
}

func manyParameters() []byte {
	values := alipayValues()
	for i := range 200 {
		values["x"+time.Duration(i).String()] = "1"
	}
	return alipayForm(values, alipayVector)
}

func TestAlipayRecipient(t *testing.T) {
	t.Parallel()
	body := alipayForm(alipayValues(), alipayVector)
	_, err := newAlipay(t, webhook.WithSeller("2088000000000000")).Verify(nil, body, alipayAt)
	require.ErrorIs(t, err, webhook.ErrRecipient)
	other, err := webhook.NewAlipay("2021000000000002", []webhook.PublicKey{webhook.PublicKey(rsaPublic)})
	require.NoError(t, err)
	_, err = other.Verify(nil, body, alipayAt)
	require.ErrorIs(t, err, webhook.ErrRecipient)
	_, err = webhook.NewAlipay("", []webhook.PublicKey{webhook.PublicKey(rsaPublic)})
	require.ErrorIs(t, err, webhook.ErrRecipient)
}

// Repeats come for a day, and may bear the first one's time.
func TestAlipayWindow(t *testing.T) {
	t.Parallel()
	body := alipayForm(alipayValues(), alipayVector)
	for name, c := range map[string]struct {
		now     time.Time
		options []webhook.Option
		want    error
	}{
		"48 h old":         {alipayAt.Add(48 * time.Hour), nil, nil},
		"older":            {alipayAt.Add(48*time.Hour + 1), nil, webhook.ErrStale},
		"5 min ahead":      {alipayAt.Add(-5 * time.Minute), nil, nil},
		"further ahead":    {alipayAt.Add(-5*time.Minute - 1), nil, webhook.ErrStale},
		"narrower ahead":   {alipayAt.Add(-61 * time.Second), []webhook.Option{webhook.WithTolerance(time.Minute)}, webhook.ErrStale},
		"narrower, 1 h":    {alipayAt.Add(time.Hour), []webhook.Option{webhook.WithMaxAge(time.Hour)}, nil},
		"narrower, beyond": {alipayAt.Add(time.Hour + 1), []webhook.Option{webhook.WithMaxAge(time.Hour)}, webhook.ErrStale},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newAlipay(t, c.options...).Verify(nil, body, c.now)
			require.ErrorIs(t, err, c.want)
		})
	}
	_, err := webhook.NewAlipay(alipayApp, []webhook.PublicKey{webhook.PublicKey(rsaPublic)}, webhook.WithMaxAge(-1))
	require.ErrorIs(t, err, webhook.ErrTolerance)
}

func TestAlipaySigner(t *testing.T) {
	t.Parallel()
	private, _ := ourPEM(t)
	s, err := webhook.NewAlipaySigner(private)
	require.NoError(t, err)
	values := alipayValues()
	body, err := s.Sign(values)
	require.NoError(t, err)
	require.Equal(t, alipayValues(), maps.Clone(values))
	d, err := newAlipay(t).Verify(nil, body, alipayAt)
	require.NoError(t, err)
	require.Zero(t, d.Secret)
}

func TestAlipayCents(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"88.88": 8888, "0.01": 1, "1": 100, "1.5": 150, "123456789012.00": 12345678901200, "0": 0,
		"": -1, ".5": -1, "1.": -1, "1.234": -1, "-1": -1, "+1": -1, "1e3": -1, "1,00": -1, " 1": -1, "1234567890123456": -1,
	} {
		n := webhook.AlipayNotice{TotalAmount: text, RefundFee: text}
		for _, read := range []func() (int64, error){n.TotalCents, n.RefundCents} {
			got, err := read()
			if want < 0 {
				require.ErrorIs(t, err, webhook.ErrMalformed, text)
				continue
			}
			require.NoError(t, err, text)
			require.Equal(t, want, got, text)
		}
	}
}
