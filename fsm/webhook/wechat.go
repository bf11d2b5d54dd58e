package webhook

import (
	"crypto/rsa"
	"net/http"
	"time"
)

// Headers of WeChat Pay v3.
const (
	HeaderWeChatTimestamp = "Wechatpay-Timestamp"
	HeaderWeChatNonce     = "Wechatpay-Nonce"
	HeaderWeChatSignature = "Wechatpay-Signature"
	HeaderWeChatSerial    = "Wechatpay-Serial"
)

// PlatformKey is a key of WeChat Pay with its name.
type PlatformKey struct {
	// Serial is what Wechatpay-Serial calls it: a platform certificate's serial
	// number in capital hexadecimal digits, or a public key's PUB_KEY_ID_….
	Serial string
	Key    PublicKey
}

// WeChat verifies and decrypts notifications of WeChat Pay v3. It is safe for
// concurrent use. The zero value refuses everything with [ErrNoSecret].
type WeChat struct {
	serials  []string
	keys     []*rsaKey
	apiKeys  []*hmacKey // they are AES keys
	settings settings
}

var _ Verifier = (*WeChat)(nil)

// NewWeChat returns a verifier that accepts signatures by any of the platform's
// keys and decrypts with any of the API v3 keys, the 32 characters themselves.
//
// The errors are a [SecretError]: ErrNoSecret, or ErrMalformed for what is no RSA
// key of 2048 bits or more, has no serial or another's, or is no API key of 32
// bytes; and ErrTolerance.
func NewWeChat(platform []PlatformKey, apiKeys []Secret, options ...Option) (*WeChat, error) {
	s, err := settingsOf(options, 0)
	if err != nil {
		return nil, err
	}
	v := &WeChat{settings: s}
	public := make([]PublicKey, len(platform))
	seen := map[string]bool{}
	for i, p := range platform {
		if p.Serial == "" || !printable(p.Serial) || seen[p.Serial] {
			return nil, &SecretError{Index: i, Err: ErrMalformed, Reason: "each key has a serial of its own"}
		}
		seen[p.Serial] = true
		public[i] = p.Key
		v.serials = append(v.serials, p.Serial)
	}
	if v.keys, err = publicKeys(public); err != nil {
		return nil, err
	}
	if v.apiKeys, err = aesKeys(apiKeys); err != nil {
		return nil, err
	}
	return v, nil
}

func aesKeys(secrets []Secret) ([]*hmacKey, error) {
	var keys []*hmacKey
	err := eachSecret(secrets, func(text string) *SecretError {
		if len(text) != 32 {
			return &SecretError{Err: ErrMalformed, Reason: "an API v3 key has 32 bytes"}
		}
		keys = append(keys, &hmacKey{hold([]byte(text))})
		return nil
	})
	return keys, err
}

// Verify checks the four Wechatpay headers against the body as received. WeChat
// Pay sends wrong signatures on purpose, to see that they are refused. The
// Delivery has no ID: it is in the body; its Secret is the position of the
// platform's key.
//
// The errors: a [HeaderError]; ErrUnknownKey for another serial; ErrSignature;
// and a [StaleError].
func (v *WeChat) Verify(header http.Header, body []byte, now time.Time) (Delivery, error) {
	if v == nil || len(v.keys) == 0 {
		return Delivery{}, ErrNoSecret
	}
	var values [4]string
	for i, name := range []string{HeaderWeChatTimestamp, HeaderWeChatNonce, HeaderWeChatSerial, HeaderWeChatSignature} {
		value, err := single(header, name)
		if err != nil {
			return Delivery{}, err
		}
		values[i] = value
	}
	stamp, ok := parseStamp(values[0])
	if !ok {
		return Delivery{}, malformed(HeaderWeChatTimestamp, "not unix seconds")
	}
	if !printable(values[1]) || len(values[1]) > maxIDBytes {
		return Delivery{}, malformed(HeaderWeChatNonce, "not printable ASCII")
	}
	position := -1
	for i, serial := range v.serials {
		if serial == values[2] {
			position = i
		}
	}
	if position < 0 {
		return Delivery{}, ErrUnknownKey
	}
	if !v.keys[position].fits(values[3], wechatSigned(values[0], values[1], body)...) {
		return Delivery{}, ErrSignature
	}
	if err := v.settings.checkWindow(stamp, now); err != nil {
		return Delivery{}, err
	}
	return Delivery{Timestamp: stamp, Secret: position}, nil
}

// wechatSigned is what the signature covers, in parts.
func wechatSigned(stamp, nonce string, body []byte) [][]byte {
	return [][]byte{[]byte(stamp + "\n" + nonce + "\n"), body, []byte("\n")}
}

// WeChatSigner signs and encrypts as WeChat Pay does, for tests. It cannot be
// used before [NewWeChatSigner] made it.
type WeChatSigner struct {
	serial string
	key    held[*rsa.PrivateKey]
	apiKey *hmacKey
}

// NewWeChatSigner returns a signer with the platform's private key, under its
// serial, and an API v3 key. The error is a [SecretError].
func NewWeChatSigner(serial string, key, apiKey Secret) (*WeChatSigner, error) {
	signing, err := signingRSA(key)
	if err != nil {
		return nil, err
	}
	keys, err := aesKeys([]Secret{apiKey})
	if err != nil {
		return nil, err
	}
	return &WeChatSigner{serial: serial, key: hold(signing), apiKey: keys[0]}, nil
}

// Sign returns the four headers for one attempt to deliver body. The error is
// ErrMalformed for a nonce that is empty or not printable ASCII, and for a time
// before 1970 or after the year 5138.
func (s *WeChatSigner) Sign(at time.Time, nonce string, body []byte) (http.Header, error) {
	if s == nil || s.key == nil {
		return nil, ErrNoSecret
	}
	stamp, ok := formatStamp(at)
	if !ok {
		return nil, errStamp()
	}
	if nonce == "" || !printable(nonce) {
		return nil, malformed(HeaderWeChatNonce, "not printable ASCII")
	}
	signature, err := signRSA(s.key(), wechatSigned(stamp, nonce, body)...)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	header.Set(HeaderWeChatTimestamp, stamp)
	header.Set(HeaderWeChatNonce, nonce)
	header.Set(HeaderWeChatSerial, s.serial)
	header.Set(HeaderWeChatSignature, signature)
	return header, nil
}
