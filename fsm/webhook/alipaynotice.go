package webhook

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// alipayZone is where notify_time is told; China knows no summer time.
var alipayZone = time.FixedZone("UTC+8", 8*60*60)

const alipayTime = "2006-01-02 15:04:05"

// AlipayNotice is what one notice tells.
type AlipayNotice struct {
	NotifyID   string
	NotifyTime time.Time // in UTC
	AppID      string
	SellerID   string
	OutTradeNo string // the shop's number
	TradeNo    string // Alipay's number
	// TradeStatus is WAIT_BUYER_PAY, TRADE_SUCCESS, TRADE_FINISHED or
	// TRADE_CLOSED.
	TradeStatus string
	TotalAmount string // in yuan, as 88.88
	// OutBizNo names the refund, in a notice of a refund; RefundFee is the sum
	// refunded so far.
	OutBizNo, RefundFee string

	values map[string]string
}

// Get returns any parameter of the notice, decoded, and whether it is there.
func (n AlipayNotice) Get(name string) (string, bool) {
	value, ok := n.values[name]
	return value, ok
}

// TotalCents is TotalAmount in cents. The error is ErrMalformed for what is no
// amount with at most two decimals.
func (n AlipayNotice) TotalCents() (int64, error) {
	return cents(n.TotalAmount)
}

// RefundCents is RefundFee in cents. The errors are those of TotalCents.
func (n AlipayNotice) RefundCents() (int64, error) { return cents(n.RefundFee) }

func cents(amount string) (int64, error) {
	whole, part, pointed := strings.Cut(amount, ".")
	if len(part) > 2 || pointed && part == "" || len(whole) > 15 {
		return 0, badBody("alipay", "an amount is not yuan and cents")
	}
	digits := whole + (part + "00")[:2]
	if whole == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, badBody("alipay", "an amount is not yuan and cents")
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, badBody("alipay", "an amount is not yuan and cents")
	}
	return n, nil
}

// ParseAlipay reads the form in a verified body. It verifies nothing.
//
// The error is ErrMalformed: not a form in UTF-8, a parameter repeated (another
// reader might take the other one), a value that may hold another parameter under
// the same signature (an & in an identifier, a sum, a status or a time, or "&name="
// in another value, the shop's own words mostly apart),
// or notify_id or notify_time missing.
func ParseAlipay(body []byte) (AlipayNotice, error) {
	values, reason := readForm(body)
	if reason == "" {
		reason = ambiguous(values)
	}
	if reason != "" {
		return AlipayNotice{}, badBody("alipay", reason)
	}
	if charset, given := values["charset"]; given && !strings.EqualFold(charset, "utf-8") {
		return AlipayNotice{}, badBody("alipay", "charset is not utf-8")
	}
	at, err := time.ParseInLocation(alipayTime, values["notify_time"], alipayZone)
	if err != nil {
		return AlipayNotice{}, badBody("alipay", "notify_time is no time")
	}
	id := values["notify_id"]
	if id == "" || len(id) > maxIDBytes || !printable(id) {
		return AlipayNotice{}, badBody("alipay", "notify_id is no identifier")
	}
	return AlipayNotice{
		NotifyID: id, NotifyTime: at.UTC(), AppID: values["app_id"], SellerID: values["seller_id"],
		OutTradeNo: values["out_trade_no"], TradeNo: values["trade_no"], TradeStatus: values["trade_status"],
		TotalAmount: values["total_amount"], OutBizNo: values["out_biz_no"], RefundFee: values["refund_fee"],
		values: values,
	}, nil
}

// AlipaySigner makes notices as Alipay does, for tests. It cannot be used before
// [NewAlipaySigner] made it.
type AlipaySigner struct {
	sign func(text string) (string, error)
}

// NewAlipaySigner returns a signer with an RSA key, in PEM or bare base64. The
// error is a [SecretError].
func NewAlipaySigner(key Secret) (*AlipaySigner, error) {
	signing, err := signingRSA(key)
	if err != nil {
		return nil, err
	}
	return &AlipaySigner{func(text string) (string, error) { return signRSA(signing, []byte(text)) }}, nil
}

// Sign returns the body of one notice with the parameters, signed as RSA2, in
// the order of their names. The error is ErrNoSecret, or the key's.
func (s *AlipaySigner) Sign(parameters map[string]string) ([]byte, error) {
	if s == nil || s.sign == nil {
		return nil, ErrNoSecret
	}
	signature, err := s.sign(alipaySigned(parameters))
	if err != nil {
		return nil, err
	}
	form := url.Values{}
	for _, name := range sortedNames(parameters) {
		form.Set(name, parameters[name])
	}
	form.Set("sign_type", "RSA2")
	form.Set("sign", signature)
	return []byte(form.Encode()), nil
}
