package command

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sums were computed by another program, from the layout: the number of the
// algorithm in two bytes, then each part behind its length in eight; the condition is
// the last one from algorithm 2 on. Records in databases hold them: no algorithm may
// ever give others.
func TestFingerprintIsForGood(t *testing.T) {
	t.Parallel()
	pay := Request{
		Scope: "any", Key: "any", Principal: "ann", Method: "POST", Path: "/orders/17/pay?notify=1",
		ContentType: "application/json; charset=utf-8", Body: []byte(`{"who":"\u00e4", "cents":100.0, "amount":"12"}`),
	}
	expecting := pay
	expecting.Condition = "If-Match: \"3\"\n"
	for _, tc := range []struct {
		request  Request
		one, two string
	}{
		{pay, "08bd9f1b11f76f6bccaf06824429a417348e41b64d7e7c51490f6e6d29204db7", "4e1c4dfa2e9ee951dda03fa98183c0561a33ae9851b8ec5c57c5677a63c11a9f"},
		{expecting, "08bd9f1b11f76f6bccaf06824429a417348e41b64d7e7c51490f6e6d29204db7", "fe401fc9f739f69921d758e815d1e1cf7995edf49a2af616fd15156b112ccd08"},
		{
			Request{ContentType: "application/json"},
			"4bd84fd5c4519939afcb7ce05b08e3e8e37e9892da2983df88a11ee28e6d0672", "31f063c3e811d6f8a4bbe4a10ec7590adde25eaab842c729672f7c876dc10412",
		},
		{
			Request{Principal: "ann", Method: "POST", Path: "/x", ContentType: "text/plain", Body: []byte(`{"a": 1}`)},
			"d1a23dfcdfd843fdf723c7b8c0dbed3bb13490e1a8430a05765f124d847f6e74", "63a24702f2a1452413e491efc7c112564306ce431b1a5a2ad45991c5d96f7ec2",
		},
	} {
		for i, want := range []string{tc.one, tc.two} {
			got, err := tc.request.fingerprintBy(int16(i + 1))
			require.NoError(t, err)
			require.Equal(t, want, hex.EncodeToString(got[:]))
		}
	}
	for _, algorithm := range []int16{-1, 0, 3} {
		_, err := (&Request{}).fingerprintBy(algorithm)
		require.ErrorIs(t, err, ErrAlgorithm)
	}
}

// No part can be moved into its neighbour.
func TestFingerprintKeepsPartsApart(t *testing.T) {
	t.Parallel()
	a, err := (&Request{Principal: "ab", Method: "c"}).fingerprintBy(currentAlgorithm)
	require.NoError(t, err)
	b, err := (&Request{Principal: "a", Method: "bc"}).fingerprintBy(currentAlgorithm)
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
