package command

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sums were computed by another program, from the layout: the number of the
// algorithm in two bytes, then each part behind its length in eight. Records in
// databases hold them: algorithm 1 must never give others.
func TestFingerprintIsForGood(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		request Request
		want    string
	}{
		{Request{
			Scope: "any", Key: "any", Principal: "ann", Method: "POST", Path: "/orders/17/pay?notify=1",
			ContentType: "application/json; charset=utf-8", Body: []byte(`{"who":"\u00e4", "cents":100.0, "amount":"12"}`),
		}, "08bd9f1b11f76f6bccaf06824429a417348e41b64d7e7c51490f6e6d29204db7"},
		{Request{ContentType: "application/json"}, "4bd84fd5c4519939afcb7ce05b08e3e8e37e9892da2983df88a11ee28e6d0672"},
		{Request{Principal: "ann", Method: "POST", Path: "/x", ContentType: "text/plain", Body: []byte(`{"a": 1}`)}, "d1a23dfcdfd843fdf723c7b8c0dbed3bb13490e1a8430a05765f124d847f6e74"},
	} {
		got, err := tc.request.fingerprintBy(1)
		require.NoError(t, err)
		require.Equal(t, tc.want, hex.EncodeToString(got[:]))
	}
	for _, algorithm := range []int16{-1, 0, 2} {
		_, err := (&Request{}).fingerprintBy(algorithm)
		require.ErrorIs(t, err, ErrAlgorithm)
	}
}

// No part can be moved into its neighbour.
func TestFingerprintKeepsPartsApart(t *testing.T) {
	t.Parallel()
	a, err := (&Request{Principal: "ab", Method: "c"}).fingerprintBy(1)
	require.NoError(t, err)
	b, err := (&Request{Principal: "a", Method: "bc"}).fingerprintBy(1)
	require.NoError(t, err)
	require.NotEqual(t, a, b)
}

func TestWhatIsJSON(t *testing.T) {
	t.Parallel()
	for _, yes := range []string{"application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json", "application/problem+json"} {
		require.True(t, isJSON(yes), yes)
	}
	for _, no := range []string{"", "text/plain", "application/jsonx", "text/json+x", "application/x-www-form-urlencoded", ";"} {
		require.False(t, isJSON(no), no)
	}
}
