package wording

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
)

func TestPhrasesAreInTheLanguageAsked(t *testing.T) {
	t.Parallel()
	p := Phrase{"state", "状态"}
	for lang, want := range map[string]string{"": "state", "en": "state", "de": "state", "zh": "状态", "zh-CN": "状态", "ZH-Hant": "状态", "zhx": "state"} {
		require.Equal(t, want, p.In(lang), lang)
	}
}

func TestEveryDecisionHasItsWords(t *testing.T) {
	t.Parallel()
	for _, d := range []model.Decision{model.Reject, model.Replay, model.Ignore, model.Compensate, model.GuardFailed} {
		for _, p := range []Phrase{Decision(d), Explained(d)} {
			require.NotEmpty(t, p.EN, d)
			require.NotEmpty(t, p.ZH, d)
		}
	}
}

func TestDurationsReadAsPeopleSayThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		span   time.Duration
		en, zh string
	}{
		{30 * time.Minute, "30 minutes", "30 分钟"},
		{24 * time.Hour, "1 day", "1 天"},
		{10 * 24 * time.Hour, "10 days", "10 天"},
		{36 * time.Hour, "36 hours", "36 小时"},
		{90 * time.Second, "90 seconds", "90 秒"},
		{1500 * time.Millisecond, "1.5s", "1.5s"},
	} {
		require.Equal(t, c.en, Duration(c.span, "en"))
		require.Equal(t, c.zh, Duration(c.span, "zh"))
	}
}
