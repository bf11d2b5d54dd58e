package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// signedWith computes the signature apart from the package.
func signedWith(key []byte, parts ...string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.Join(parts, ".")))
	return mac.Sum(nil)
}

// checkError fails when a message shows what it must not.
func checkError(t *testing.T, err error, body []byte, forbidden ...string) {
	t.Helper()
	if len(body) > 40 { // a short body may occur in a message by chance
		forbidden = append(forbidden, string(body))
	}
	for _, text := range forbidden {
		if strings.Contains(err.Error(), text) {
			t.Fatalf("the error shows %q: %v", text, err)
		}
	}
}

// FuzzStandard: no panic, nothing accepted whose list lacks the right
// signature or whose time is outside the window, nothing secret in errors.
func FuzzStandard(f *testing.F) {
	public := "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
	v, err := webhook.NewStandard(webhook.Secrets(stdSecret, public))
	if err != nil {
		f.Fatal(err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(stdSecret, "whsec_"))
	if err != nil {
		f.Fatal(err)
	}
	for _, list := range []string{stdSignature, stdForged, rfcOnStd, "v1,", "v1a,AA== v1,AA==", " ,", ""} {
		f.Add(stdID, stdStamp, list, []byte(stdBody), int64(1614265330))
	}
	f.Add("a.b", "-1", stdSignature, []byte(nil), int64(-1)<<62)
	f.Add("", "99999999999", stdSignature, []byte("\xff"), int64(1)<<62)
	f.Fuzz(func(t *testing.T, id, stamp, list string, body []byte, now int64) {
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {list}}
		want := base64.StdEncoding.EncodeToString(signedWith(key, id, stamp, string(body)))
		d, err := v.Verify(h, body, time.Unix(now, 0))
		if err != nil {
			checkError(t, err, body, want, strings.TrimPrefix(stdSecret, "whsec_"))
			return
		}
		genuine := strings.Contains(list, "v1,"+want)
		if id == stdID && stamp == stdStamp && string(body) == stdBody {
			genuine = genuine || strings.Contains(list, rfcOnStd)
		}
		if !genuine || d.ID != id || d.Timestamp.Unix()-now > 300 || now-d.Timestamp.Unix() > 300 {
			t.Fatalf("accepted %+v at %d", d, now)
		}
	})
}

// FuzzStripe: as FuzzStandard.
func FuzzStripe(f *testing.F) {
	v, err := webhook.NewStripe(webhook.Secrets(stripeSecret))
	if err != nil {
		f.Fatal(err)
	}
	for _, value := range []string{"t=1492774577," + stripeV1, "t=1492774577," + stripeForged, "t=,v1=", "t=1,t=2,v1=00", "=,=", "", stripeV1} {
		f.Add(value, []byte(stripeBody), int64(1492774577))
	}
	f.Add("t=99999999999,"+stripeV1, []byte("\xff"), int64(-1)<<62)
	f.Fuzz(func(t *testing.T, value string, body []byte, now int64) {
		d, err := v.Verify(http.Header{"Stripe-Signature": {value}}, body, time.Unix(now, 0))
		if err != nil {
			checkError(t, err, body, stripeSecret, strings.TrimPrefix(stripeV1, "v1="))
			return
		}
		stamp := d.Timestamp.Unix()
		right := hex.EncodeToString(signedWith([]byte(stripeSecret), strconv.FormatInt(stamp, 10), string(body)))
		if !strings.Contains(strings.ToLower(value), "v1="+right) || stamp-now > 300 || now-stamp > 300 {
			t.Fatalf("accepted %+v at %d", d, now)
		}
	})
}
