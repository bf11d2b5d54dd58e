package gengo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"the parcel left": "The parcel left.", "Done.": "Done.", "": "", " 到货 ": "到货."} {
		require.Equal(t, want, sentence(text))
	}
}
