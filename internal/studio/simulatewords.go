package studio

import (
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/simulate"
	"github.com/pawl-go/pawl/internal/wording"
)

// outcomeWord is what an outcome is called here: the word of the runtime where it
// has one, in Chinese as the pages of the database have it. The class gives it its colour.
type outcomeWord struct {
	class      string
	word, when wording.Phrase
}

var outcomeWords = map[simulate.Outcome]outcomeWord{
	oracle.Applied:      {"move", wording.Phrase{EN: "Applied", ZH: "已应用"}, wording.Phrase{EN: "moves the row", ZH: "行发生转换"}},
	oracle.Compensated:  {"compensate", wording.Phrase{EN: "Compensated", ZH: "已补偿"}, wording.Phrase{EN: "nothing moves; the fact is recorded once, and someone gets work", ZH: "状态不变；事实只记录一次，并留下待处理的工作"}},
	oracle.Replayed:     {"replay", wording.Phrase{EN: "Replayed", ZH: "已重放"}, wording.Phrase{EN: "told again: success, nothing done", ZH: "重复告知：成功，未做任何事"}},
	oracle.Ignored:      {"ignore", wording.Phrase{EN: "Ignored", ZH: "已忽略"}, wording.Phrase{EN: "harmless here: success, nothing done", ZH: "在此无害：成功，未做任何事"}},
	oracle.Rejected:     {"reject", wording.Phrase{EN: "Rejected", ZH: "已拒绝"}, wording.Phrase{EN: "not legal in this state", ZH: "该状态下不合法"}},
	oracle.GuardFailed:  {"guard_failed", wording.Phrase{EN: "GuardFailed", ZH: "条件不成立"}, wording.Phrase{EN: "the state is right, and no guard is true", ZH: "状态正确，但没有条件成立"}},
	oracle.Stale:        {"reject", wording.Phrase{EN: "Stale", ZH: "版本过期"}, wording.Phrase{EN: "the expected version is not the row's: reload and try again", ZH: "期望的版本与行不符：请重新读取后再试"}},
	oracle.Mismatched:   {"reject", wording.Phrase{EN: "Mismatched", ZH: "内容不符"}, wording.Phrase{EN: "the identity is known, and says something else now: a conflict to look into", ZH: "标识已知，但内容不同：需要调查的冲突"}},
	oracle.NotFound:     {"reject", wording.Phrase{EN: "not found", ZH: "无此行"}, wording.Phrase{EN: "there is no row", ZH: "还没有这一行"}},
	oracle.BadArgument:  {"reject", wording.Phrase{EN: "bad argument", ZH: "参数错误"}, wording.Phrase{EN: "refused before anything was done", ZH: "在做任何事之前被拒绝"}},
	oracle.CheckFailed:  {"reject", wording.Phrase{EN: "check failed", ZH: "违反约束"}, wording.Phrase{EN: "the row would break a check of its table: nothing is done", ZH: "行将违反表的约束：未做任何事"}},
	simulate.Failed:     {"reject", wording.Phrase{EN: "failed", ZH: "失败"}, wording.Phrase{EN: "PostgreSQL refuses to work it out: nothing is done", ZH: "PostgreSQL 拒绝计算：未做任何事"}},
	simulate.Open:       {"compensate", wording.Phrase{EN: "your choice", ZH: "待选择"}, wording.Phrase{EN: "a guard cannot be worked out here: say whether it is true", ZH: "有条件无法在此计算：请选择它是否成立"}},
	simulate.NotPlayed:  {"reject", wording.Phrase{EN: "does not fit", ZH: "不适用"}, wording.Phrase{EN: "the step does not fit the definition, and is passed over", ZH: "该步骤与定义不符，已跳过"}},
	simulate.Passed:     {"ignore", wording.Phrase{EN: "time passed", ZH: "时间流逝"}, wording.Phrase{EN: "nothing happens by itself: a deadline fires when the sweep comes", ZH: "不会自动发生什么：期限在清扫时触发"}},
	simulate.Began:      {"ignore", wording.Phrase{EN: "given", ZH: "给定"}, wording.Phrase{EN: "the row is there as the link has it; what was before is not known", ZH: "行如链接所述；以前的情况未知"}},
	simulate.NothingDue: {"ignore", wording.Phrase{EN: "nothing due", ZH: "无到期"}, wording.Phrase{EN: "the sweep passes the row over: it is not due", ZH: "行未到期，清扫略过"}},
}

// offeredOrder are the outcomes by which calls are grouped, those that do most first.
var offeredOrder = []simulate.Outcome{
	oracle.Applied, oracle.Compensated, oracle.Replayed, oracle.Ignored, oracle.GuardFailed, oracle.Rejected,
	simulate.Open, oracle.Stale, oracle.Mismatched, oracle.BadArgument, oracle.CheckFailed, simulate.Failed, simulate.NotPlayed,
}

var truthWords = map[simulate.Truth]wording.Phrase{
	simulate.True: {EN: "true", ZH: "真"}, simulate.False: {EN: "false", ZH: "假"}, simulate.Null: {EN: "NULL", ZH: "NULL"},
}

var storyWords = map[simulate.StoryKind]struct{ title, about wording.Phrase }{
	simulate.Happy:    {wording.Phrase{EN: "All goes well", ZH: "一切顺利"}, wording.Phrase{EN: "from the creation to the end", ZH: "从创建到结束"}},
	simulate.Late:     {wording.Phrase{EN: "Too late", ZH: "迟到"}, wording.Phrase{EN: "%s comes when the deadline has led to %s", ZH: "期限已使行进入 %[2]s 后，%[1]s 才到"}},
	simulate.Wrong:    {wording.Phrase{EN: "Wrong values", ZH: "数值不符"}, wording.Phrase{EN: "%s comes in %s, and no guard is true", ZH: "%s 在 %s 到来，但没有条件成立"}},
	simulate.Twice:    {wording.Phrase{EN: "Told twice", ZH: "重复送达"}, wording.Phrase{EN: "%[1]s again, and once more with another value", ZH: "%[1]s 再次送达，然后以不同的值送达"}},
	simulate.Deadline: {wording.Phrase{EN: "Left alone", ZH: "无人理会"}, wording.Phrase{EN: "%s fires in %s by itself", ZH: "%s 在 %s 自动触发"}},
	simulate.Refused:  {wording.Phrase{EN: "Refused", ZH: "被拒绝"}, wording.Phrase{EN: "%s in %s is not legal", ZH: "%s 在 %s 不合法"}},
}

// what says what a step did.
func (l *life) what(s *simulate.Told) string {
	switch s.Step.Kind {
	case simulate.Create:
		return l.say(wording.Phrase{EN: "the row is created", ZH: "创建行"})
	case simulate.Given:
		return l.say(wording.Phrase{EN: "a row in %s", ZH: "处于 %s 的行"}, s.Step.Name)
	case simulate.Wait:
		return l.say(wording.Phrase{EN: "%s later", ZH: "%s后"}, l.span(s.Step.After))
	case simulate.Sweep:
		if s.Event != nil {
			return l.say(wording.Phrase{EN: "the sweep: %s", ZH: "清扫：%s"}, s.Event.Name)
		}
		return l.say(wording.Phrase{EN: "the deadline sweep", ZH: "期限清扫"})
	case simulate.Correct:
		return l.say(wording.Phrase{EN: "support corrects to %s", ZH: "人工更正为 %s"}, s.Step.Name)
	}
	if s.Step.Bad != nil {
		return l.say(wording.Phrase{EN: "a step that cannot be read", ZH: "无法读取的步骤"})
	}
	return s.Step.Name
}

// why are the sentences that explain an outcome, in the order of judgement.
func (l *life) why(s *simulate.Told) []string {
	var out []string
	add := func(p wording.Phrase, args ...any) { out = append(out, l.say(p, args...)) }
	switch {
	case s.Param != nil:
		add(map[oracle.TextFault]wording.Phrase{
			oracle.Empty:   {EN: "%s is empty, and identifies nothing.", ZH: "%s 为空，无法标识。"},
			oracle.Long:    {EN: "%s is longer than 1 KiB.", ZH: "%s 超过 1 KiB。"},
			oracle.Control: {EN: "%s holds a control character.", ZH: "%s 含有控制字符。"},
		}[s.Fault], s.Param.Name)
	case s.NoVersion:
		add(wording.Phrase{EN: "%s must say which version it expects.", ZH: "%s 必须说明期望的版本。"}, s.Event.Name)
	case s.Retired:
		add(wording.Phrase{EN: "%s is retired: no row may enter it any more.", ZH: "%s 已停用，不再有行进入。"}, s.Step.Name)
	case s.Error != nil:
		add(wording.Phrase{EN: "SQLSTATE %s: %s.", ZH: "SQLSTATE %s：%s。"}, s.Error.State, strings.TrimSuffix(s.Error.Message, "."))
	}
	if k := s.Known; k != nil {
		add(wording.Phrase{EN: "Step %d has told this fact already: the identity %s is known, so no cell is looked at.", ZH: "第 %d 步已告知过此事实：标识 %s 已知，因此不看单元格。"}, k.Step, pairs(s.Event.Identity, &s.Step))
		switch {
		case len(s.Event.Fingerprint) == 0:
		case k.Same:
			add(wording.Phrase{EN: "The fingerprint %s is the same.", ZH: "指纹 %s 相同。"}, pairs(s.Event.Fingerprint, &s.Step))
		default:
			add(wording.Phrase{EN: "The fingerprint was %s, and is %s now.", ZH: "指纹原为 %s，现为 %s。"}, k.Fact.Fingerprint, k.Told)
		}
	}
	if s.Cell != nil {
		out = append(out, l.cell(s)...)
	}
	if s.Outcome == oracle.Stale {
		add(wording.Phrase{EN: "Version %d was expected, and the row has %d.", ZH: "期望版本 %d，行的版本是 %d。"}, s.Step.Version, s.Was)
	}
	if s.Outcome == oracle.Replayed && s.Made.Event != "" && s.Made.Event != oracle.EventUntold {
		add(wording.Phrase{EN: "The first result comes with the answer: %s, version %d.", ZH: "答复带有首次的结果：%s，版本 %d。"}, l.say(outcomeWords[s.Made.Outcome].word), s.Made.Version)
	}
	return out
}

// cell says what the cell has to say, beside its guards.
func (l *life) cell(s *simulate.Told) []string {
	c, taken := s.Cell, s.Taken()
	at := []any{c.State.Name, c.Event.Name}
	switch {
	case s.Outcome == simulate.Open:
		return []string{l.say(wording.Phrase{EN: "In %s, %s hangs on a guard that only the database can work out.", ZH: "在 %s，%s 取决于只有数据库才能计算的条件。"}, at...)}
	case s.Outcome == simulate.Failed || s.Outcome == oracle.BadArgument:
		return nil
	case !c.Moves():
		return []string{l.say(wording.Phrase{EN: "The cell of %[2]s in %[1]s says %[3]s.", ZH: "%[1]s × %[2]s 的单元格为“%[3]s”。"}, append(at, wording.Decision(c.Otherwise).In(l.Lang))...)}
	case taken == nil:
		return []string{l.say(wording.Phrase{EN: "In %s, no guard of %s is true, so its cell says %s.", ZH: "在 %s，%s 没有条件成立，单元格为“%s”。"}, append(at, wording.Decision(c.Otherwise).In(l.Lang))...)}
	case taken.Guard == nil && len(c.Transitions) == 1:
		return []string{l.say(wording.Phrase{EN: "In %s, %s leads to %s, whatever the row holds.", ZH: "在 %s，%s 无条件进入 %s。"}, append(at, taken.To.Name)...)}
	case taken.Guard == nil:
		return []string{l.say(wording.Phrase{EN: "In %s, no guard of %s is true, and without one it leads to %s.", ZH: "在 %s，%s 没有条件成立，无条件的转换进入 %s。"}, append(at, taken.To.Name)...)}
	}
	return []string{l.say(wording.Phrase{EN: "In %s, the guard of %s is true that leads to %s.", ZH: "在 %s，%s 进入 %s 的条件成立。"}, append(at, taken.To.Name)...)}
}

// pairs are parameters with their values.
func pairs(params []*model.Param, s *simulate.Step) string {
	var out []string
	for _, p := range params {
		text, _ := s.Arg(p.Name)
		out = append(out, p.Name+" = "+text)
	}
	return strings.Join(out, ", ")
}

// problem puts a problem into words.
func (l *life) problem(p *simulate.Problem) string {
	words := map[simulate.Code]wording.Phrase{
		simulate.NotReadable:  {EN: "“%[1]s” cannot be read: %[2]s.", ZH: "“%[1]s”无法读取：%[2]s。"},
		simulate.OtherVersion: {EN: "The link is of version “%[1]s”, which this studio does not know. No step of it is played.", ZH: "链接的版本“%[1]s”是此 Studio 不认识的，其中的步骤均未执行。"},
		simulate.TooLong:      {EN: "The link is too long: “%[1]s” and what is behind it is left out.", ZH: "链接过长：从“%[1]s”起的内容已略去。"},
		simulate.NoEvent:      {EN: "There is no event “%[1]s” in the definition.", ZH: "定义中没有事件“%[1]s”。"},
		simulate.NoState:      {EN: "There is no state “%[1]s” in the definition.", ZH: "定义中没有状态“%[1]s”。"},
		simulate.NoParam:      {EN: "There is no parameter “%[1]s”.", ZH: "没有参数“%[1]s”。"},
		simulate.NoColumn:     {EN: "A row is not given a column “%[1]s”.", ZH: "行没有可给定的列“%[1]s”。"},
		simulate.NoChoice:     {EN: "There is no condition “%[1]s” to choose the truth of.", ZH: "没有可选择真假的条件“%[1]s”。"},
		simulate.Missing:      {EN: "“%[1]s” needs a value.", ZH: "“%[1]s”需要一个值。"},
		simulate.BadValue:     {EN: "The value of “%[1]s” is no %[3]s: %[2]s.", ZH: "“%[1]s”的值不是 %[3]s：%[2]s。"},
		simulate.NotFirst:     {EN: "Only the first step may say that a row is there.", ZH: "只有第一步可以给定已有的行。"},
	}[p.Code]
	text := l.say(words)
	if strings.Contains(text, "%") {
		text = l.say(words, p.Name, strings.TrimSuffix(p.Why, "."), p.Type) // the sentence has its own stop
	}
	if p.Nearest != "" {
		text += l.say(wording.Phrase{EN: " Did you mean “%s”?", ZH: "是否指“%s”？"}, p.Nearest)
	}
	return text
}
