package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
)

func TestALabelIsOfTheNearestLanguage(t *testing.T) {
	t.Parallel()
	s := &model.State{Name: "PAID", Labels: []model.Label{{Lang: "en", Text: "Paid"}, {Lang: "zh", Text: "已支付"}, {Lang: "zh-TW", Text: "已付款"}, {Lang: "pt-BR", Text: "Pago"}}}
	for lang, want := range map[string]string{
		"en": "Paid", "zh": "已支付", "zh-TW": "已付款", "zh-tw": "已付款", "zh-CN": "已支付", "pt": "Pago", "fr": "Paid",
	} {
		require.Equal(t, want, s.Label(lang), lang)
	}
	require.Equal(t, "PAID", (&model.State{Name: "PAID"}).Label("en"))
}
