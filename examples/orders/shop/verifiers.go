package shop

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// AlipaySettings are what Alipay's callbacks are verified by. Without keys they are
// not served.
type AlipaySettings struct {
	// AppID and SellerID are whom a notice must be meant for: WEBHOOK_ALIPAY_APP_ID,
	// and WEBHOOK_ALIPAY_SELLER_ID, empty for any seller.
	AppID, SellerID string
	// Keys are Alipay's public keys in base64, without the lines of PEM:
	// WEBHOOK_ALIPAY_KEYS, separated by commas.
	Keys []webhook.PublicKey
}

// WeChatSettings are what WeChat Pay's callbacks are verified and decrypted by.
// Without platform keys they are not served.
type WeChatSettings struct {
	// Platform are WeChat Pay's public keys, each with its serial or its PUB_KEY_ID_…:
	// WEBHOOK_WECHAT_KEYS, as SERIAL:BASE64, separated by commas.
	Platform []webhook.PlatformKey
	// APIKeys are the API v3 keys: WEBHOOK_SECRET_WECHAT, separated by commas.
	APIKeys []webhook.Secret
}

// readAlipay reads AlipaySettings. The error is a SettingError.
func readAlipay(getenv func(string) string) (AlipaySettings, error) {
	a := AlipaySettings{AppID: getenv("WEBHOOK_ALIPAY_APP_ID"), SellerID: getenv("WEBHOOK_ALIPAY_SELLER_ID")}
	for _, key := range listed(getenv("WEBHOOK_ALIPAY_KEYS")) {
		a.Keys = append(a.Keys, webhook.PublicKey(key))
	}
	if a.AppID != "" && len(a.Keys) == 0 {
		return a, &SettingError{"WEBHOOK_ALIPAY_KEYS", "is missing beside WEBHOOK_ALIPAY_APP_ID"}
	}
	_, err := a.Verifier()
	return a, err
}

// readWeChat reads WeChatSettings. The error is a SettingError.
func readWeChat(getenv func(string) string) (WeChatSettings, error) {
	w := WeChatSettings{APIKeys: secrets(getenv("WEBHOOK_SECRET_WECHAT"))}
	for _, item := range listed(getenv("WEBHOOK_WECHAT_KEYS")) {
		serial, key, _ := strings.Cut(item, ":") // one without a key is refused as such
		w.Platform = append(w.Platform, webhook.PlatformKey{Serial: serial, Key: webhook.PublicKey(key)})
	}
	if len(w.APIKeys) > 0 && len(w.Platform) == 0 {
		return w, &SettingError{"WEBHOOK_WECHAT_KEYS", "is missing beside WEBHOOK_SECRET_WECHAT"}
	}
	_, err := w.Verifier()
	return w, err
}

// Verifier returns the verifier of Alipay's callbacks, nil without keys. The error
// is a SettingError.
func (a AlipaySettings) Verifier() (*webhook.Alipay, error) {
	if len(a.Keys) == 0 {
		return nil, nil
	}
	var options []webhook.Option
	if a.SellerID != "" {
		options = append(options, webhook.WithSeller(a.SellerID))
	}
	v, err := webhook.NewAlipay(a.AppID, a.Keys, options...)
	switch {
	case errors.Is(err, webhook.ErrRecipient):
		return nil, &SettingError{"WEBHOOK_ALIPAY_APP_ID", "is missing beside WEBHOOK_ALIPAY_KEYS"}
	case err != nil:
		return nil, &SettingError{"WEBHOOK_ALIPAY_KEYS", fmt.Sprintf("cannot be used: %v", err)}
	}
	return v, nil
}

// Verifier returns the verifier of WeChat Pay's callbacks, nil without platform
// keys. The error is a SettingError.
func (w WeChatSettings) Verifier() (*webhook.WeChat, error) {
	if len(w.Platform) == 0 {
		return nil, nil
	}
	v, err := webhook.NewWeChat(w.Platform, w.APIKeys)
	if err != nil {
		return nil, &SettingError{"WEBHOOK_WECHAT_KEYS", fmt.Sprintf("or WEBHOOK_SECRET_WECHAT cannot be used: %v", err)}
	}
	return v, nil
}
