package webhook_test

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pawl-go/pawl/fsm/webhook"
)

func ExampleStandard() {
	// Two secrets are valid while one replaces the other.
	verifier, err := webhook.NewStandard(webhook.Secrets(
		"whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcY",
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	))
	if err != nil {
		fmt.Println(err)
		return
	}

	// In a handler: r.Header, and the body as read, before any decoding.
	header := http.Header{}
	header.Set("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
	header.Set("webhook-timestamp", "1614265330")
	header.Set("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
	body := []byte(`{"test": 2432232314}`)

	delivery, err := verifier.Verify(header, body, time.Unix(1614265340, 0))
	fmt.Println(delivery.ID, delivery.Timestamp.Format(time.RFC3339), err)

	_, err = verifier.Verify(header, []byte(`{"test": 1}`), time.Unix(1614265340, 0))
	fmt.Println(errors.Is(err, webhook.ErrSignature), err)

	_, err = verifier.Verify(header, body, time.Unix(1614265330+3600, 0))
	fmt.Println(errors.Is(err, webhook.ErrStale), err)

	// Output:
	// msg_p5jXN8AQM9LWM0D4loKWxJek 2021-02-25T15:02:10Z <nil>
	// true webhook signature does not match
	// true webhook time stamp is outside the window: 1h0m0s in the past, at most 5m0s is accepted
}

func ExampleAdyen() {
	verifier, err := webhook.NewAdyen(webhook.Secrets("DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00"))
	if err != nil {
		fmt.Println(err)
		return
	}
	body := []byte(`{"live":"false","notificationItems":[{"NotificationRequestItem":{
		"pspReference":"pspReference","originalReference":"originalReference","merchantAccountCode":"merchantAccount",
		"merchantReference":"reference","amount":{"value":1000,"currency":"EUR"},"eventCode":"EVENT","success":"true",
		"additionalData":{"hmacSignature":"ipnxGCaUZ4l8TUW75a71/ghd2Fe5ffvX0pV4TLTntIc="}}}]}`)
	if _, err := verifier.Verify(nil, body, time.Now()); err != nil {
		fmt.Println(err)
		return
	}
	// Only what the signature protects: the field "live", say, is anybody's.
	items, err := webhook.ParseAdyen(body)
	for _, item := range items {
		fmt.Println(item.MerchantReference, item.Value, item.Currency, item.EventCode, item.Success, err)
	}
	// Output: reference 1000 EUR EVENT true <nil>
}
