package webhook

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"
)

// ErrDecrypt: no key opens what a genuine callback has encrypted.
var ErrDecrypt = errors.New("webhook resource cannot be decrypted")

// wechatNonceBytes is the one length of a nonce of AEAD_AES_256_GCM.
const wechatNonceBytes = 12

const wechatAlgorithm = "AEAD_AES_256_GCM"

// WeChatNotice is one notification, decrypted.
type WeChatNotice struct {
	// ID names the notification and is the same for its repeats.
	ID           string
	CreateTime   time.Time
	EventType    string // TRANSACTION.SUCCESS, REFUND.SUCCESS …
	OriginalType string // transaction, refund …
	// Resource is the JSON that was encrypted: the transaction or the refund.
	Resource []byte
}

type wechatBody struct {
	ID           string         `json:"id"`
	CreateTime   time.Time      `json:"create_time"`
	EventType    string         `json:"event_type"`
	ResourceType string         `json:"resource_type"`
	Resource     wechatResource `json:"resource"`
}

type wechatResource struct {
	Algorithm      string `json:"algorithm"`
	Ciphertext     string `json:"ciphertext"`
	AssociatedData string `json:"associated_data"`
	Nonce          string `json:"nonce"`
	OriginalType   string `json:"original_type"`
}

// Decrypt reads a verified body and opens its resource. It does not verify the
// signature.
//
// The errors are ErrMalformed, for a body that is not of the scheme's form, and
// ErrDecrypt.
func (v *WeChat) Decrypt(body []byte) (WeChatNotice, error) {
	if v == nil || len(v.apiKeys) == 0 {
		return WeChatNotice{}, ErrNoSecret
	}
	var read wechatBody
	if decodeOne(body, &read) != nil {
		return WeChatNotice{}, badBody("wechat", "not JSON of a notification")
	}
	r := read.Resource
	ciphertext, err := strict.DecodeString(r.Ciphertext)
	switch {
	case read.ID == "" || len(read.ID) > maxIDBytes || !printable(read.ID):
		return WeChatNotice{}, badBody("wechat", "id is no identifier")
	case r.Algorithm != wechatAlgorithm:
		return WeChatNotice{}, badBody("wechat", "the algorithm is not "+wechatAlgorithm)
	case len(r.Nonce) != wechatNonceBytes: // Open panics at another length
		return WeChatNotice{}, badBody("wechat", "a nonce has 12 bytes")
	case err != nil:
		return WeChatNotice{}, badBody("wechat", "the ciphertext is not base64")
	}
	for _, key := range v.apiKeys {
		sealed, err := aead(key)
		if err != nil {
			return WeChatNotice{}, err
		}
		plain, err := sealed.Open(nil, []byte(r.Nonce), ciphertext, []byte(r.AssociatedData))
		if err == nil {
			return WeChatNotice{
				ID: read.ID, CreateTime: read.CreateTime, EventType: read.EventType,
				OriginalType: r.OriginalType, Resource: plain,
			}, nil
		}
	}
	return WeChatNotice{}, ErrDecrypt
}

func aead(key *hmacKey) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key.secret())
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Seal returns the body of a notification with its resource encrypted under a
// random nonce. associated may be empty. The error is ErrMalformed where
// [WeChat.Decrypt] would refuse the ID.
func (s *WeChatSigner) Seal(notice WeChatNotice, associated string) ([]byte, error) {
	if s == nil || s.apiKey == nil {
		return nil, ErrNoSecret
	}
	if notice.ID == "" || len(notice.ID) > maxIDBytes || !printable(notice.ID) {
		return nil, badBody("wechat", "id is no identifier")
	}
	seal, err := aead(s.apiKey)
	if err != nil {
		return nil, err
	}
	nonce := rand.Text()[:wechatNonceBytes]
	return json.Marshal(wechatBody{
		ID: notice.ID, CreateTime: notice.CreateTime, EventType: notice.EventType, ResourceType: "encrypt-resource",
		Resource: wechatResource{
			Algorithm: wechatAlgorithm, AssociatedData: associated, Nonce: nonce, OriginalType: notice.OriginalType,
			Ciphertext: strict.EncodeToString(seal.Seal(nil, []byte(nonce), notice.Resource, []byte(associated))),
		},
	})
}
