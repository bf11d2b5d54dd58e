package shop_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
)

const formType = "application/x-www-form-urlencoded; charset=utf-8"

var wechatKey = webhook.NewSecret("0123456789abcdef0123456789ABCDEF")

var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// keys are a provider's, the public one as a setting has it.
func keys(t *testing.T) (webhook.Secret, string) {
	t.Helper()
	key, err := rsaKey()
	require.NoError(t, err)
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return webhook.NewSecret(string(private)), base64.StdEncoding.EncodeToString(public)
}

// chinese is a bench that Alipay and WeChat Pay call.
type chinese struct {
	*bench
	alipay *webhook.AlipaySigner
	wechat *webhook.WeChatSigner
}

func newChinese(t *testing.T) *chinese {
	t.Helper()
	private, public := keys(t)
	settings, err := shop.ReadSettings(env("WEBHOOK_ALIPAY_APP_ID", "app", "WEBHOOK_ALIPAY_SELLER_ID", "2088", "WEBHOOK_ALIPAY_KEYS", public,
		"WEBHOOK_WECHAT_KEYS", "S1:"+public, "WEBHOOK_SECRET_WECHAT", wechatKey.Reveal()))
	require.NoError(t, err)
	c := &chinese{bench: newKept(t, func(c *shop.Config) {
		c.Alipay, err = settings.Alipay.Verifier()
		require.NoError(t, err)
		c.WeChat, err = settings.WeChat.Verifier()
		require.NoError(t, err)
	})}
	c.alipay, err = webhook.NewAlipaySigner(private)
	require.NoError(t, err)
	c.wechat, err = webhook.NewWeChatSigner("S1", private, wechatKey)
	require.NoError(t, err)
	return c
}

// trade tells by Alipay's notice what became of p-1.
func (c *chinese) trade(id, status, yuan string, more map[string]string) (int, string) {
	c.t.Helper()
	parameters := map[string]string{
		"app_id": "app", "seller_id": "2088", "notify_id": id, "notify_time": c.clock.Now().Add(8 * time.Hour).Format(time.DateTime),
		"out_trade_no": "p-1", "trade_status": status, "total_amount": yuan,
	}
	maps.Copy(parameters, more)
	body, err := c.alipay.Sign(parameters)
	require.NoError(c.t, err)
	return c.post("alipay", formType, body, nil)
}

// notify tells by WeChat Pay's notification.
func (c *chinese) notify(id, kind, resource string) (int, string) {
	c.t.Helper()
	body, err := c.wechat.Seal(webhook.WeChatNotice{ID: id, EventType: kind, Resource: []byte(resource)}, "")
	require.NoError(c.t, err)
	header, err := c.wechat.Sign(c.clock.Now(), "nonce", body)
	require.NoError(c.t, err)
	return c.post("wechat", "application/json", body, header)
}

const (
	wechatPaid   = `{"out_trade_no":"p-1","trade_state":"SUCCESS","amount":{"total":10050,"payer_total":10050,"currency":"CNY"}}`
	wechatRefund = `{"out_trade_no":"p-1","out_refund_no":"r-1","refund_status":%q,"amount":{"total":10050,"refund":50}}`
)

func (c *chinese) success(status int, text string) {
	c.t.Helper()
	require.Equal(c.t, http.StatusOK, status)
	require.Equal(c.t, "success", text)
}

func (c *chinese) noContent(status int, text string) {
	c.t.Helper()
	require.Equal(c.t, http.StatusNoContent, status)
	require.Empty(c.t, text)
}

func TestAlipayTellsAPayment(t *testing.T) {
	t.Parallel()
	c := newChinese(t)
	c.success(c.trade("n1", "TRADE_SUCCESS", "100.50", nil)) // before the payment is there
	require.Equal(t, "alipay n1 parked", c.events())
	c.awaited()
	c.success(c.trade("n0", "WAIT_BUYER_PAY", "100.50", nil))
	require.Equal(t, "PAYING", c.state(orderA))
	require.Equal(t, 1, c.retry())
	c.once()
	c.success(c.trade("n1", "TRADE_SUCCESS", "100.50", nil))
	c.success(c.trade("n2", "TRADE_SUCCESS", "100.50", nil))  // the same by another name
	c.success(c.trade("n3", "TRADE_FINISHED", "100.50", nil)) // what was told is over
	c.success(c.trade("n4", "TRADE_SUCCESS", "100.50", map[string]string{"out_biz_no": "r-1", "refund_fee": "0.50"}))
	c.success(c.trade("n5", "TRADE_CLOSED", "100.50", nil))
	c.success(c.trade("n6", "", "100.50", nil))
	c.once()
	require.Equal(t, "alipay n1 done Applied, alipay n0 done Ignored, alipay n3 done Replayed, alipay n4 done Replayed, alipay n5 done Ignored, alipay n6 ignored", c.events())
	require.Equal(t, map[inbox.Verdict]int64{"parked": 1, "done": 3, "stale": 2, "duplicate": 2, "ignored": 1}, c.verdicts("alipay"))
	require.Equal(t, "provider:alipay n1", c.value("SELECT actor || ' ' || request_id FROM order_history WHERE event = 'payment_succeeded'"))
}

// What Alipay tells and we cannot take, waits for a person; what is not Alipay's, is
// refused in its own way.
func TestAlipayTellsWhatCannotBe(t *testing.T) {
	t.Parallel()
	c := newChinese(t)
	c.awaited()
	c.success(c.trade("n1", "TRADE_MAYBE", "100.50", nil))
	c.success(c.trade("n2", "TRADE_SUCCESS", "100.505", nil))
	c.success(c.trade("n3", "TRADE_SUCCESS", "0.00", nil))
	require.Equal(t, "alipay n1 dead, alipay n2 dead, alipay n3 dead", c.events())
	require.Contains(t, c.value("SELECT reason FROM fsm_inbox WHERE event_id = 'n1'"), `"TRADE_MAYBE"`)
	c.success(c.trade("n4", "TRADE_SUCCESS", "100.49", nil)) // the machine's to judge: it goes back
	require.Equal(t, "PAYING", c.state(orderA))
	require.Equal(t, []string{"10", "", "refund_due"}, c.effects())

	for _, other := range []map[string]string{{"app_id": "other"}, {"seller_id": "2089"}, {"notify_time": "2026-03-01 00:00:00"}} {
		status, text := c.trade("n5", "TRADE_SUCCESS", "100.50", other)
		require.Equal(t, http.StatusUnauthorized, status)
		require.Equal(t, "fail", text)
	}
	status, text := c.post("alipay", formType, []byte("app_id=app&notify_id=n5&out_trade_no=p-1&sign=AAAA"), nil)
	require.Equal(t, http.StatusUnauthorized, status)
	require.Equal(t, "fail", text)
	require.Equal(t, "0", c.value("SELECT count(*) FROM fsm_inbox WHERE event_id = 'n5'"))
}

func TestWeChatTellsAPaymentAndItsRefund(t *testing.T) {
	t.Parallel()
	c := newChinese(t)
	c.noContent(c.notify("e1", "TRANSACTION.SUCCESS", wechatPaid))
	require.Equal(t, "wechat e1 parked", c.events())
	c.awaited()
	require.Equal(t, 1, c.retry())
	c.once()
	c.noContent(c.notify("e1", "TRANSACTION.SUCCESS", wechatPaid))
	c.noContent(c.notify("e2", "TRANSACTION.SUCCESS", wechatPaid))
	c.once()
	c.noContent(c.notify("e3", "REFUND.PROCESSING", fmt.Sprintf(wechatRefund, "PROCESSING")))
	c.is(http.StatusAccepted, c.do("POST", "/orders/"+orderA+"/refunds", `{"refund_no":"r-1","amount_cents":50}`))
	c.noContent(c.notify("e4", "REFUND.SUCCESS", fmt.Sprintf(wechatRefund, "SUCCESS")))
	require.Equal(t, "SUCCEEDED", c.value("SELECT status FROM refunds"))
	require.Equal(t, "50", c.value("SELECT refunded_cents FROM orders"))
	c.noContent(c.notify("e5", "PAYSCORE.USER_PAID", `{"out_order_no":"x"}`))
	require.Equal(t, "wechat e1 done Applied, wechat e3 done Ignored, wechat e4 done Applied, wechat e5 ignored", c.events())
}

func TestWeChatTellsOfARefundThatDidNotHappen(t *testing.T) {
	t.Parallel()
	c := newChinese(t)
	c.awaited()
	c.noContent(c.notify("e1", "TRANSACTION.SUCCESS", wechatPaid))
	c.is(http.StatusAccepted, c.do("POST", "/orders/"+orderA+"/refunds", `{"refund_no":"r-1","amount_cents":50}`))
	c.clock.advance(2 * time.Minute)
	require.NotZero(t, c.sweep()) // it is sent
	require.Equal(t, "SENT", c.value("SELECT status FROM refunds"))
	abnormal, closed := fmt.Sprintf(wechatRefund, "ABNORMAL"), fmt.Sprintf(wechatRefund, "CLOSED")
	c.noContent(c.notify("e2", "REFUND.ABNORMAL", abnormal))
	require.Equal(t, "ABNORMAL", c.value("SELECT status FROM refunds"))
	c.noContent(c.notify("e3", "REFUND.ABNORMAL", abnormal)) // it may be so again, and so is news
	c.noContent(c.notify("e4", "REFUND.CLOSED", closed))
	require.Equal(t, "CLOSED", c.value("SELECT status FROM refunds"))
	require.Equal(t, "wechat e1 done Applied, wechat e2 done Compensated, wechat e3 done Replayed, wechat e4 done Replayed", c.events())
	require.Equal(t, "1", c.value("SELECT count(*) FROM fsm_outbox WHERE machine = 'order' AND topic = 'refund_stuck'"))
	require.Equal(t, "0", c.value("SELECT refunded_cents FROM orders"))
}

// Whoever is told that a refund was closed does not have its deadline send it.
func TestWeChatClosesARefundThatWasNotSent(t *testing.T) {
	t.Parallel()
	c := newChinese(t)
	c.awaited()
	c.noContent(c.notify("e1", "TRANSACTION.SUCCESS", wechatPaid))
	c.is(http.StatusAccepted, c.do("POST", "/orders/"+orderA+"/refunds", `{"refund_no":"r-1","amount_cents":50}`))
	c.noContent(c.notify("e2", "REFUND.CLOSED", fmt.Sprintf(wechatRefund, "CLOSED")))
	c.clock.advance(time.Hour)
	require.Zero(t, c.sweep())
	require.Equal(t, "CLOSED", c.value("SELECT status FROM refunds"))
}

// WeChat Pay sends wrong signatures on purpose.
func TestWeChatIsRefusedInItsOwnWay(t *testing.T) {
	t.Parallel()
	c := newChinese(t)
	c.awaited()
	body, err := c.wechat.Seal(webhook.WeChatNotice{ID: "e1", EventType: "TRANSACTION.SUCCESS", Resource: []byte(wechatPaid)}, "")
	require.NoError(t, err)
	header, err := c.wechat.Sign(c.clock.Now(), "nonce", body)
	require.NoError(t, err)
	header.Set(webhook.HeaderWeChatNonce, "another")
	status, text := c.post("wechat", "application/json", body, header)
	require.Equal(t, http.StatusUnauthorized, status)
	require.JSONEq(t, `{"code":"FAIL","message":"refused"}`, text)
	require.Empty(t, c.events())
	require.Equal(t, "PAYING", c.state(orderA))
	require.Equal(t, []shop.RefusedCount{{Provider: "wechat", Reason: "signature", Count: 1}}, c.service.Counters().Refused)
}

func TestSettingsOfAlipayAndWeChat(t *testing.T) {
	t.Parallel()
	_, public := keys(t)
	s, err := shop.ReadSettings(env("WEBHOOK_ALIPAY_APP_ID", "app", "WEBHOOK_ALIPAY_KEYS", public+", "+public,
		"WEBHOOK_WECHAT_KEYS", "S1:"+public+",PUB_KEY_ID_1:"+public, "WEBHOOK_SECRET_WECHAT", wechatKey.Reveal()))
	require.NoError(t, err)
	require.Equal(t, shop.AlipaySettings{AppID: "app", Keys: []webhook.PublicKey{webhook.PublicKey(public), webhook.PublicKey(public)}}, s.Alipay)
	require.Equal(t, []webhook.PlatformKey{{Serial: "S1", Key: webhook.PublicKey(public)}, {Serial: "PUB_KEY_ID_1", Key: webhook.PublicKey(public)}}, s.WeChat.Platform)

	for want, pairs := range map[string][]string{
		"WEBHOOK_ALIPAY_APP_ID is missing": {"WEBHOOK_ALIPAY_KEYS", public},
		"WEBHOOK_ALIPAY_KEYS is missing":   {"WEBHOOK_ALIPAY_APP_ID", "app"},
		"WEBHOOK_ALIPAY_KEYS cannot":       {"WEBHOOK_ALIPAY_APP_ID", "app", "WEBHOOK_ALIPAY_KEYS", public + ","},
		"WEBHOOK_WECHAT_KEYS is missing":   {"WEBHOOK_SECRET_WECHAT", wechatKey.Reveal()},
		"WEBHOOK_SECRET_WECHAT cannot":     {"WEBHOOK_WECHAT_KEYS", "S1:" + public},
		"WEBHOOK_WECHAT_KEYS or":           {"WEBHOOK_WECHAT_KEYS", "sesame", "WEBHOOK_SECRET_WECHAT", wechatKey.Reveal()},
		"or WEBHOOK_SECRET_WECHAT":         {"WEBHOOK_WECHAT_KEYS", "S1:" + public, "WEBHOOK_SECRET_WECHAT", "sesame"},
	} {
		_, err := shop.ReadSettings(env(pairs...))
		var setting *shop.SettingError
		require.ErrorAs(t, err, &setting, want)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "sesame")
	}
}
