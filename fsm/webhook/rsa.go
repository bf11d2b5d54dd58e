package webhook

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"strings"
)

// minRSABits is the least that the providers use today.
const minRSABits = 2048

// maxSignatureText bounds an RSA signature in base64, of up to 8192 bits.
const maxSignatureText = 1400

// PublicKey is a provider's RSA key as the provider gives it: PEM of a
// certificate or a public key, or the bare base64 of one.
type PublicKey string

// rsaKey verifies SHA256withRSA, which is RSASSA-PKCS1-v1_5.
type rsaKey struct{ key *rsa.PublicKey }

// fits tells whether signature, in base64, is that of the parts as one text.
func (k *rsaKey) fits(signature string, parts ...[]byte) bool {
	// The encoding is compared with its one spelling, since decoders skip line
	// ends.
	if len(signature) > maxSignatureText {
		return false
	}
	raw, err := strict.DecodeString(signature)
	if err != nil || strict.EncodeToString(raw) != signature {
		return false
	}
	return rsa.VerifyPKCS1v15(k.key, crypto.SHA256, digest(parts), raw) == nil
}

// digest is the SHA-256 of the parts as one text.
func digest(parts [][]byte) []byte {
	hash := sha256.New()
	for _, part := range parts {
		hash.Write(part) // a hash never fails to write
	}
	return hash.Sum(nil)
}

// publicKeys reads all keys, or says which cannot be used.
func publicKeys(keys []PublicKey) ([]*rsaKey, error) {
	secrets := make([]Secret, len(keys))
	for i, key := range keys {
		secrets[i] = NewSecret(strings.TrimSpace(string(key)))
	}
	var read []*rsaKey
	err := eachSecret(secrets, func(text string) *SecretError {
		key, err := publicKeyOf(text)
		read = append(read, key)
		return err
	})
	return read, err
}

// publicKeyOf reads one key.
func publicKeyOf(text string) (*rsaKey, *SecretError) {
	der, err := derOf(text)
	if err != nil {
		return nil, err
	}
	var parsed any
	if key, err := x509.ParsePKIXPublicKey(der); err == nil {
		parsed = key
	} else if key, err := x509.ParsePKCS1PublicKey(der); err == nil {
		parsed = key
	} else if certificate, err := x509.ParseCertificate(der); err == nil {
		parsed = certificate.PublicKey
	}
	return usable(parsed)
}

// usable refuses what is no RSA key, or too short a one.
func usable(parsed any) (*rsaKey, *SecretError) {
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, &SecretError{Err: ErrMalformed, Reason: "not an RSA public key"}
	}
	if key.N.BitLen() < minRSABits {
		return nil, &SecretError{Err: ErrMalformed, Reason: "an RSA key has at least 2048 bits"}
	}
	return &rsaKey{key}, nil
}

// signingRSA reads a private key, PKCS #8 or #1, to sign with.
func signingRSA(secret Secret) (*rsa.PrivateKey, error) {
	var signing *rsa.PrivateKey
	err := eachSecret(Secrets(strings.TrimSpace(secret.Reveal())), func(text string) *SecretError {
		der, err := derOf(text)
		if err != nil {
			return err
		}
		if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
			signing, _ = key.(*rsa.PrivateKey)
		} else if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
			signing = key
		}
		if signing == nil {
			return &SecretError{Err: ErrMalformed, Reason: "not an RSA private key"}
		}
		_, short := usable(&signing.PublicKey)
		return short
	})
	return signing, err
}

// signRSA signs the parts as one text, in base64.
func signRSA(key *rsa.PrivateKey, parts ...[]byte) (string, error) {
	raw, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest(parts))
	return strict.EncodeToString(raw), err
}

// derOf takes off the PEM or the base64 around a key.
func derOf(text string) ([]byte, *SecretError) {
	if strings.HasPrefix(text, "-----") {
		block, rest := pem.Decode([]byte(text))
		if block == nil || strings.TrimSpace(string(rest)) != "" {
			return nil, &SecretError{Err: ErrMalformed, Reason: "not PEM of one key"}
		}
		return block.Bytes, nil
	}
	der, err := strict.DecodeString(text)
	if err != nil {
		return nil, &SecretError{Err: ErrMalformed, Reason: "neither PEM nor base64"}
	}
	return der, nil
}
