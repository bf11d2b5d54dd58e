package studio

import (
	"errors"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/live"
	"github.com/pawl-go/pawl/internal/simulate"
	"github.com/pawl-go/pawl/internal/wording"
)

// number groups the digits of a number.
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// upTo is a number that was counted no further than live.Most.
func upTo(n int64) string {
	if n >= live.Most {
		return number(live.Most) + "+"
	}
	return number(n)
}

// brief is a number in the little room of a picture: 12,345 or 1.23 M.
func brief(n int64) string {
	switch {
	case n < 100_000:
		return number(n)
	case n < 1_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	case n < 1_000_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 2, 64) + "M"
	}
	return strconv.FormatFloat(float64(n)/1e9, 'f', 2, 64) + "G"
}

// rate is a flow per minute.
func rate(perMinute float64) string {
	if perMinute < 10 {
		return strings.TrimSuffix(strconv.FormatFloat(perMinute, 'f', 1, 64), ".0")
	}
	return number(int64(perMinute + .5))
}

var lapses = []struct {
	span   time.Duration
	phrase wording.Phrase
}{
	{24 * time.Hour, wording.Phrase{EN: "%d d", ZH: "%d 天"}}, {time.Hour, wording.Phrase{EN: "%d h", ZH: "%d 小时"}},
	{time.Minute, wording.Phrase{EN: "%d min", ZH: "%d 分"}}, {time.Second, wording.Phrase{EN: "%d s", ZH: "%d 秒"}}, {time.Millisecond, wording.Phrase{EN: "%d ms", ZH: "%d 毫秒"}},
}

// lapse is a duration by its two largest units, such as "3 d 4 h".
func lapse(d time.Duration, lang string) string {
	d = max(d, -max(d, -math.MaxInt64)) // the least has no opposite
	for i, u := range lapses {
		if d < u.span {
			continue
		}
		text := u.phrase.Sprintf(lang, d/u.span)
		if i+1 < len(lapses)-1 && d/u.span < 100 {
			if rest := d % u.span / lapses[i+1].span; rest > 0 {
				text += " " + lapses[i+1].phrase.Sprintf(lang, rest)
			}
		}
		return text
	}
	return wording.Phrase{EN: "< 1 ms", ZH: "< 1 毫秒"}.In(lang) // not 0: that is for none
}

// outcomeText is an outcome of the database in the words of the simulation; what is none
// is as it was.
func outcomeText(outcome, lang string) string {
	if w, ok := outcomeWords[simulate.Outcome(outcome)]; ok {
		return w.word.In(lang)
	}
	return outcome
}

// moment is a time as people read it here.
func moment(t time.Time) string { return local(t.Local(), time.Now(), "2006-01-02 15:04:05") }

// clock is the time of a day.
func clock(t time.Time) string { return local(t.Local(), time.Now(), "15:04:05") }

// local has the offset with it where that is not the one of now, as in summer for who
// reads in winter.
func local(t, now time.Time, layout string) string {
	_, then := t.Zone()
	if _, is := now.Zone(); is != then {
		layout += " UTC-07:00"
	}
	return t.Format(layout)
}

// zone is whose times moment and clock give: the studio's, which need be neither the reader's nor the database's.
func zone(t time.Time) string { return t.Local().Format("UTC-07:00") }

// exact is a time for programs.
func exact(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// trouble is why there is no figure, in words.
type trouble struct {
	Text string
	// Grant is the statement that helps, empty for none.
	Grant string
	// Detail is what the database said, in its own words.
	Detail string
	Busy   bool
}

var troubles = []struct {
	kind error
	text wording.Phrase
}{
	{live.ErrAway, wording.Phrase{EN: "The database cannot be reached. It is tried again every few seconds.", ZH: "无法连接数据库，每隔几秒会重试。"}},
	{live.ErrBusy, wording.Phrase{EN: "Somebody is changing the table %s, and the studio does not stand in the way. It is tried again in a moment.", ZH: "有人正在更改表 %s，Studio 不会妨碍，稍后重试。"}},
	{live.ErrSlow, wording.Phrase{EN: "It took longer than a page may take of the database, and was ended.", ZH: "查询超过了允许的时间，已中止。"}},
	{live.ErrDenied, wording.Phrase{EN: "The role %s may not read %s.", ZH: "角色 %s 无权读取 %s。"}},
	{live.ErrHidden, wording.Phrase{EN: "Row-level security shows the role %s some rows of %s alone: what is looked for may be among the others.", ZH: "行级安全只向角色 %s 显示 %s 的部分行：所查内容可能在其余行中。"}},
	{live.ErrMissing, wording.Phrase{EN: "The database has no %s: are the migrations run, and is their schema in the search_path?", ZH: "数据库中没有 %s：是否已执行迁移？其模式是否在 search_path 中？"}},
}

// trouble puts an error into words; nil for none.
func (v *visit) trouble(l *rows, err error) *trouble {
	if err == nil {
		return nil
	}
	var told *live.Error
	if !errors.As(err, &told) {
		return &trouble{Text: v.say(wording.Phrase{EN: "The database could not be asked.", ZH: "无法查询数据库。"}), Detail: withoutPasswords(err.Error())}
	}
	what := told.Relation
	if told.Column != "" {
		what += "." + told.Column
	}
	t := &trouble{Grant: told.Grant(l.db.Role()), Busy: errors.Is(told.Kind, live.ErrBusy), Text: v.say(wording.Phrase{EN: "The database does not answer the question.", ZH: "数据库没有回答此查询。"})}
	if told.Err != nil {
		t.Detail = withoutPasswords(told.Err.Error())
	}
	for _, known := range troubles {
		if !errors.Is(told.Kind, known.kind) {
			continue
		}
		text := v.say(known.text)
		switch strings.Count(text, "%s") {
		case 1:
			text = fmt.Sprintf(text, what)
		case 2:
			text = fmt.Sprintf(text, l.db.Role(), what)
		}
		t.Text = strings.ReplaceAll(text, "  ", " ")
	}
	return t
}

// liveFunctions are what the templates of these pages call.
func liveFunctions(lang string) template.FuncMap {
	return template.FuncMap{
		"number": number, "upTo": upTo, "moment": moment, "clock": clock, "zone": zone, "exact": exact,
		"outcome": func(outcome string) string { return outcomeText(outcome, lang) },
		"reason":  func(reason string) string { return reasonText(reason, lang) },
		"refusal": func(kind string) string { return refusalText(kind, lang) },
		"span":    func(d time.Duration) string { return lapse(d, lang) },
		"since":   func(t time.Time) string { return lapse(time.Since(t), lang) },
	}
}
