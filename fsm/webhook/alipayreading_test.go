package webhook_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// alipayRefund are the values of a notice of a refund, with more than the vector has.
func alipayRefund() map[string]string {
	values := alipayValues()
	maps.Copy(values, map[string]string{
		"body": "b", "buyer_id": "2088102", "gmt_refund": "2026-03-04 14:00:00", "out_biz_no": "r-1", "point_amount": "0.00",
		"receipt_amount": "88.88", "refund_fee": "10.00", "seller_email": "s@example.com",
	})
	return values
}

// weight is what money hangs on of a notice.
func weight(n webhook.AlipayNotice) string {
	return fmt.Sprintf("%q", []string{n.NotifyID, n.NotifyTime.String(), n.AppID, n.SellerID, n.OutTradeNo, n.TradeNo, n.TradeStatus,
		n.TotalAmount, n.OutBizNo, n.RefundFee})
}

// The signed text is not escaped, so that a genuine notice's neighbours can be made
// one value under its own signature.
func TestAlipayRefusesASwallowedParameter(t *testing.T) {
	t.Parallel()
	private, _ := ourPEM(t)
	s, err := webhook.NewAlipaySigner(private)
	require.NoError(t, err)
	genuine, err := s.Sign(alipayRefund())
	require.NoError(t, err)
	_, err = newAlipay(t).Verify(nil, genuine, alipayAt)
	require.NoError(t, err)
	for _, c := range []struct {
		into string
		what []string
	}{
		{"trade_status", []string{"version"}},
		{"out_trade_no", []string{"passback_params"}},
		{"out_trade_no", []string{"passback_params", "point_amount"}},
		{"refund_fee", []string{"seller_email"}},
		{"app_id", []string{"body"}},
		{"body", []string{"buyer_id"}},
		{"body", []string{"buyer_id", "charset"}},
		{"buyer_id", []string{"charset"}},
		{"charset", []string{"gmt_payment"}},
		{"passback_params", []string{"point_amount"}},
		{"passback_params", []string{"point_amount", "receipt_amount"}},
		{"seller_email", []string{"seller_id"}},
		{"subject", []string{"total_amount"}},
	} {
		form, err := url.ParseQuery(string(genuine))
		require.NoError(t, err)
		for _, what := range c.what {
			form.Set(c.into, form.Get(c.into)+"&"+what+"="+form.Get(what))
			form.Del(what)
		}
		_, err = newAlipay(t).Verify(nil, []byte(form.Encode()), alipayAt)
		require.ErrorIs(t, err, webhook.ErrMalformed, "%s with %s", c.into, c.what)
	}
}

// The shop's own words come back, whatever is in them.
func TestAlipayTakesTheShopsWords(t *testing.T) {
	t.Parallel()
	private, _ := ourPEM(t)
	s, err := webhook.NewAlipaySigner(private)
	require.NoError(t, err)
	for name, texts := range map[string][]string{
		"subject":         {"A&B=C", "a&b=c", "M&M's", "&", "&&=", "a&=b", "tea&tea=2", "&total=1"},
		"body":            {"Salt & pepper=1", "https://shop.example/?a=1&b=2&version=3&charset=utf-8", "x&subject=y"},
		"passback_params": {"uid=1&pid=2", "uid=1&price=2&buyer_id=3&store=4", "uid%3D1%26pid%3D2"},
		"store_name":      {"M & M", "A&B"},
	} {
		for _, text := range texts {
			values := alipayRefund()
			values[name] = text
			body, err := s.Sign(values)
			require.NoError(t, err)
			_, err = newAlipay(t).Verify(nil, body, alipayAt)
			require.NoError(t, err, text)
		}
	}
}

// Of all the notices that have one signed text, none is taken that tells something
// else of what money hangs on.
func TestAlipayReadings(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]map[string]string{
		"plain":               {},
		"with words":          {"subject": "A&B=C&sz=1", "body": "b&box=1"},
		"with other words":    {"subject": "s&pb=1", "passback_params": "uid=1&pid=2"},
		"as parameters":       {"subject": "tea&tea=2&u=3"},
		"with a new one":      {"bz_new": "1", "sx_new": "2", "trade_new": "3"},
		"without a neighbour": {"passback_params": "x&y=z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := alipayRefund()
			for _, quiet := range []string{"buyer_id", "gmt_payment", "gmt_refund", "notify_type", "point_amount", "seller_email", "trade_no"} {
				delete(values, quiet) // the fewer the faster
			}
			maps.Copy(values, words)
			genuine, err := webhook.ParseAlipay(alipayForm(values, "x"))
			require.NoError(t, err)
			read, taken := 0, 0
			readings(signedText(values), func(other map[string]string) {
				read++
				n, err := webhook.ParseAlipay(alipayForm(other, "x"))
				if err != nil || n.AppID != genuine.AppID || n.SellerID != genuine.SellerID {
					return // Verify refuses those
				}
				taken++
				require.Equal(t, weight(genuine), weight(n), "%q", other)
			})
			require.Greater(t, read, 1000)
			require.Positive(t, taken, "the genuine one at least")
		})
	}
}

// signedText is what Alipay signs.
func signedText(values map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+"="+values[name])
	}
	return strings.Join(parts, "&")
}

// readings hands out every notice that has the signed text: each way to have some of
// its & part parameters whose names are in order.
func readings(text string, yield func(map[string]string)) {
	tokens := strings.Split(text, "&")
	var from func(i int, last string, values map[string]string)
	from = func(i int, last string, values map[string]string) {
		if i == len(tokens) {
			yield(maps.Clone(values))
			return
		}
		name, value, named := strings.Cut(tokens[i], "=")
		if named && name > last {
			values[name] = value
			from(i+1, name, values)
			delete(values, name)
		}
		if last != "" && name != "notify_id" && name != "notify_time" { // without these none is taken
			before := values[last]
			values[last] = before + "&" + tokens[i]
			from(i+1, last, values)
			values[last] = before
		}
	}
	from(0, "", map[string]string{})
}
