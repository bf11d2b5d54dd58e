package webhook

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Alipay signs the text name=value&name=value, in the order of the names and without
// escaping. So two notices may have one text, and one signature: a notice whose
// trade_status is "TRADE_SUCCESS&version=1.0" and the genuine one that has a version.
// Whoever sees a genuine notice can make the other, send it first, and have the
// genuine one look like a contradiction.
//
// Of such notices the genuine one has the most parameters: Alipay never writes two
// into one. So "&name=" in a value is what gives the other away. Not each of them may
// be refused, though: what the shop said itself comes back in a notice, and "A&B=C"
// is a subject, "uid=1&pid=2" what it had passed back. Those notices would be lost,
// and with them the news of a payment. So a value is refused
//
//   - of a weighty parameter, an identifier, a sum, a status or a time: for any &,
//     which no genuine one has;
//   - of the shop's own words: for & and a weighty name anywhere, and for & and the
//     name of another parameter that Alipay has, where it would stand between this
//     parameter and the next one, as one that was swallowed does. A parameter that no
//     document of Alipay's lists may be swallowed there: nobody reads it;
//   - of any other: for & and whatever could be a parameter's name.
//
// The opposite cannot be seen: where the shop's words have "&name=value" in them, and
// no such parameter comes, the notice that has it as a parameter has the same text. A
// shop that lets customers write those words keeps & out of them.

// alipayWeighty are the parameters that money hangs on.
var alipayWeighty = []string{
	"app_id", "buyer_pay_amount", "gmt_close", "gmt_payment", "gmt_refund", "notify_id", "notify_time", "notify_type",
	"out_biz_no", "out_trade_no", "receipt_amount", "refund_fee", "seller_id", "total_amount", "trade_no", "trade_status",
}

// alipayWords are the parameters that say what the shop said when it asked for the
// payment.
var alipayWords = []string{"body", "passback_params", "subject"}

// alipayOthers are the further parameters that a notice may have by Alipay's
// documents.
var alipayOthers = []string{
	"async_payment_mode", "auth_app_id", "auth_trade_pay_mode", "biz_settle_mode", "business_params", "buyer_id",
	"buyer_logon_id", "buyer_open_id", "buyer_user_type", "charge_amount", "charge_flags", "charset", "credit_biz_order_id",
	"credit_pay_mode", "discount_amount", "discount_goods_detail", "enterprise_pay_info", "ext_infos", "fund_bill_list",
	"gmt_create", "hb_fq_pay_info", "hyb_amount", "invoice_amount", "mdiscount_amount", "pay_amount", "pay_currency",
	"point_amount", "refund_reason", "refund_status", "seller_email", "send_back_fee", "send_pay_date", "settle_amount",
	"settle_currency", "settle_trans_rate", "settlement_id", "store_id", "store_name", "terminal_id", "trans_currency",
	"trans_pay_rate", "version", "voucher_detail_list",
}

// ambiguous says why the values could be told in another way under the same
// signature, or nothing.
func ambiguous(values map[string]string) string {
	names := sortedNames(values)
	for i, name := range names {
		value := values[name]
		if !utf8.ValidString(name) || !utf8.ValidString(value) || strings.ContainsAny(name, "&=") {
			return "not a form in UTF-8"
		}
		if !strings.Contains(value, "&") {
			continue
		}
		next := "" // none
		for _, n := range names[i+1:] {
			if n != "sign" && n != "sign_type" { // they are not in the text
				next = n
				break
			}
		}
		if swallows(name, value, next) {
			return "a parameter inside the value of another"
		}
	}
	return ""
}

// swallows tells whether a value with an & may hold another parameter; next is the
// parameter behind it in the signed text, empty for none.
func swallows(name, value, next string) bool {
	if slices.Contains(alipayWeighty, name) {
		return true
	}
	words := slices.Contains(alipayWords, name)
	_, rest, _ := strings.Cut(value, "&")
	for part := range strings.SplitSeq(rest, "&") {
		inner, _, named := strings.Cut(part, "=")
		between := inner > name && (next == "" || inner < next)
		switch {
		case !named:
		case slices.Contains(alipayWeighty, inner):
			return true
		case !words && parameterName(inner):
			return true
		case words && between && (slices.Contains(alipayWords, inner) || slices.Contains(alipayOthers, inner)):
			return true
		}
	}
	return false
}

// parameterName tells whether Alipay could call a parameter so.
func parameterName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
}
