// Package wording has the words in which material for people speaks of a
// machine, in English and Chinese: one place, so that a picture, a matrix and a
// test say the same thing in the same way. Labels and descriptions are the
// definition's own and may be in any language; the words around them are
// Chinese for Chinese and English for everyone else.
package wording

import (
	"fmt"
	"time"

	"github.com/pawl-go/pawl/internal/duration"
	"github.com/pawl-go/pawl/internal/model"
)

// Phrase is one word or sentence in the languages that material is written in.
type Phrase struct{ EN, ZH string }

// In returns the phrase for a language, a BCP 47 tag such as "zh" or "zh-CN";
// English for any other, and for none.
func (p Phrase) In(lang string) string {
	if model.PrimaryLanguage(lang) == "zh" {
		return p.ZH
	}
	return p.EN
}

// Sprintf fills the phrase's verbs in; both languages have the same ones.
func (p Phrase) Sprintf(lang string, args ...any) string {
	return fmt.Sprintf(p.In(lang), args...)
}

var decisions = map[model.Decision]Phrase{
	model.Reject:      {"reject", "拒绝"},
	model.Replay:      {"replay", "重放"},
	model.Ignore:      {"ignore", "忽略"},
	model.Compensate:  {"compensate", "补偿"},
	model.GuardFailed: {"guard failed", "条件不满足"},
}

// Decision is what a cell says when no transition of it is taken.
func Decision(d model.Decision) Phrase { return decisions[d] }

// Explained says what a decision means to whoever calls.
func Explained(d model.Decision) Phrase { return explained[d] }

var explained = map[model.Decision]Phrase{
	model.Reject:      {"refused: the event is not legal in this state", "拒绝：该状态下此事件不合法"},
	model.Replay:      {"told again: success, nothing done", "重复通知：返回成功，不做任何事"},
	model.Ignore:      {"harmless: success, nothing done", "无害：返回成功，不做任何事"},
	model.Compensate:  {"nothing moves; recorded once, and work is left for someone", "状态不变；只记录一次，并留下待处理的工作"},
	model.GuardFailed: {"refused: the state is right, no guard is true", "拒绝：状态正确，但没有条件成立"},
}

// Guard is a guard for people: its description, else its name, else its SQL.
func Guard(g *model.Guard) string {
	switch {
	case g.Describe != "":
		return g.Describe
	case g.Name != "":
		return g.Name
	}
	return g.SQL.Source
}

// Duration is a time span for people, such as "30 minutes" or "10 天".
func Duration(d time.Duration, lang string) string {
	for _, u := range units {
		if d >= u.span && d%u.span == 0 {
			n := d / u.span
			if n == 1 {
				return u.one.Sprintf(lang, n)
			}
			return u.many.Sprintf(lang, n)
		}
	}
	return duration.Format(d)
}

var units = []struct {
	span      time.Duration
	one, many Phrase
}{
	{24 * time.Hour, Phrase{"%d day", "%d 天"}, Phrase{"%d days", "%d 天"}},
	{time.Hour, Phrase{"%d hour", "%d 小时"}, Phrase{"%d hours", "%d 小时"}},
	{time.Minute, Phrase{"%d minute", "%d 分钟"}, Phrase{"%d minutes", "%d 分钟"}},
	{time.Second, Phrase{"%d second", "%d 秒"}, Phrase{"%d seconds", "%d 秒"}},
}
