package gendocs

import (
	"strings"

	"github.com/pawl-go/pawl/internal/compare"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// mark is a small word beside a name, with the class that gives it its colour.
type mark struct{ Class, Text string }

// class is the style class of a decision, and the value of data-kind in a matrix.
func class(d model.Decision) string { return strings.ReplaceAll(d.String(), " ", "_") }

// stateMarks says what kind of state it is, in marks and in a sentence each.
func stateMarks(s *model.State, lang string) (marks []mark, meaning []string) {
	for _, m := range []struct {
		has     bool
		class   string
		word    wording.Phrase
		meaning wording.Phrase
	}{
		{s.Initial, "initial", wording.Phrase{EN: "initial", ZH: "初始"}, wording.Phrase{EN: "Every row begins here.", ZH: "每一行都从这里开始。"}},
		{s.Final, "final", wording.Phrase{EN: "final", ZH: "终态"}, wording.Phrase{EN: "Nothing leaves this state.", ZH: "进入后不再离开。"}},
		{s.Resting, "resting", wording.Phrase{EN: "resting", ZH: "可停留"}, wording.Phrase{EN: "A row may stay here for good, yet events can still move it.", ZH: "行可以一直停留在此，但事件仍可使其转换。"}},
		{s.Retired, "retired", wording.Phrase{EN: "retired", ZH: "已停用"}, wording.Phrase{EN: "Rows may leave this state, and none may enter it any more.", ZH: "行可以离开此状态，但不再有行进入。"}},
	} {
		if m.has {
			marks = append(marks, mark{m.class, m.word.In(lang)})
			meaning = append(meaning, m.meaning.In(lang))
		}
	}
	if s.Deadline != nil {
		marks = append(marks, mark{"deadline", durationIn(lang)(s.Deadline.After)})
	}
	if s.Was != "" {
		meaning = append(meaning, wording.Phrase{EN: "It was called %s before.", ZH: "以前名为 %s。"}.Sprintf(lang, s.Was))
	}
	return marks, meaning
}

// deadline is a deadline in words, around the event that it fires.
type deadline struct {
	Before string
	Event  *model.Event
	After  string
}

func deadlineOf(s *model.State, lang string) *deadline {
	d := s.Deadline
	if d == nil {
		return nil
	}
	out := &deadline{Event: d.Event}
	out.Before = wording.Phrase{EN: "After %[1]s in %[2]s:", ZH: "在 %[2]s 停留 %[1]s后触发"}.Sprintf(lang, durationIn(lang)(d.After), s.Name)
	out.After = wording.Phrase{EN: ".", ZH: "。"}.In(lang)
	switch {
	case d.Max == 1:
		out.After = wording.Phrase{EN: ", once.", ZH: "，只触发一次。"}.In(lang)
	case d.Max > 1:
		out.After = wording.Phrase{EN: ", at most %d times.", ZH: "，最多 %d 次。"}.Sprintf(lang, d.Max)
	}
	return out
}

func eventMarks(e *model.Event, deadlines int, lang string) []mark {
	var marks []mark
	if e.Callback {
		marks = append(marks, mark{"callback", wording.Phrase{EN: "callback", ZH: "回调"}.In(lang)})
	}
	if deadlines > 0 {
		marks = append(marks, mark{"deadline", wording.Phrase{EN: "deadline", ZH: "期限"}.In(lang)})
	}
	if e.ExpectVersion {
		marks = append(marks, mark{"version", wording.Phrase{EN: "expects a version", ZH: "需指定版本"}.In(lang)})
	}
	return marks
}

// suites says what each criterion asks for; a criterion with a number is
// looked up without it.
var suites = map[string]wording.Phrase{
	"all-cells":   {EN: "Every event in every state, refusals included, and every way a guard can turn it.", ZH: "每个状态下的每个事件，包括拒绝，以及条件的每种走向。"},
	"0-switch":    {EN: "Every transition once.", ZH: "每个转换一次。"},
	"1-switch":    {EN: "Every two transitions that can follow each other.", ZH: "每两个可以相继发生的转换。"},
	"n-switch":    {EN: "Every sequence of transitions of that length that can follow each other.", ZH: "每个该长度的、可以相继发生的转换序列。"},
	"n-plus":      {EN: "Every transition from every state on the shortest way there, and every event that must not move it.", ZH: "沿最短路径到达每个状态后执行每个转换，以及每个不应引起转换的事件。"},
	"tour":        {EN: "All transitions in as few steps as possible, in one go.", ZH: "以尽可能少的步骤一次走完所有转换。"},
	"tour=closed": {EN: "All transitions in as few steps as possible, and back to the beginning.", ZH: "以尽可能少的步骤走完所有转换并回到起点。"},
	"walks":       {EN: "All transitions in as few walks from the beginning as possible.", ZH: "从初始状态出发，以尽可能少的路径走完所有转换。"},
	"races":       {EN: "Every two events that are allowed in one state, at the same time: one wins, and the other is told the truth.", ZH: "同一状态下允许的每两个事件同时发生：一个成功，另一个得到真实的结果。"},
	"guards":      {EN: "Every guard true and false, at its boundaries, and every two that overlap.", ZH: "每个条件成立与不成立、边界取值，以及每两个重叠的条件。"},
}

func aboutSuite(name, lang string) string {
	if about, known := suites[name]; known {
		return about.In(lang)
	}
	name, _, _ = strings.Cut(name, "=")
	return suites[name].In(lang)
}

// numbers says what the sizes of fsmgen stats are.
var numbers = map[string]wording.Phrase{
	"states":       {EN: "States", ZH: "状态"},
	"events":       {EN: "Events", ZH: "事件"},
	"cells":        {EN: "Cells: states × events", ZH: "单元格：状态 × 事件"},
	"transitions":  {EN: "Transitions (0-switch)", ZH: "转换（0-switch）"},
	"null_cells":   {EN: "Cells without a transition", ZH: "没有转换的单元格"},
	"switch1":      {EN: "Pairs of transitions (1-switch)", ZH: "相继的两个转换（1-switch）"},
	"switch2":      {EN: "Triples of transitions (2-switch)", ZH: "相继的三个转换（2-switch）"},
	"nplus_leaves": {EN: "N+: leaves of the tree", ZH: "N+：树的叶子"},
	"nplus_steps":  {EN: "N+: steps", ZH: "N+：步骤"},
	"nplus_sneak":  {EN: "N+: events that must not move", ZH: "N+：不应引起转换的事件"},
	"tour_closed":  {EN: "Tour that comes back: steps", ZH: "闭合遍历：步骤"},
	"tour_open":    {EN: "Tour that may end anywhere: steps", ZH: "开放遍历：步骤"},
	"walks":        {EN: "Fewest walks over all transitions", ZH: "走完所有转换的最少路径"},
	"walk_steps":   {EN: "Steps of those walks", ZH: "这些路径的步骤"},
	"race_pairs":   {EN: "Pairs of events that can race", ZH: "可能竞争的事件对"},
}

// outcomes is what a call answers, when, and what the caller makes of it.
var outcomes = []struct {
	outcome    suite.Outcome
	class      string
	when, seen wording.Phrase
}{
	{suite.Applied, "move", wording.Phrase{EN: "this call moved the row", ZH: "本次调用使行发生了转换"}, wording.Phrase{EN: "success", ZH: "成功"}},
	{suite.Replayed, "replay", wording.Phrase{EN: "the same fact took effect before, or the cell says replay", ZH: "同一事实以前已生效，或单元格为“重放”"}, wording.Phrase{EN: "success, nothing done", ZH: "成功，未做任何事"}},
	{suite.Ignored, "ignore", wording.Phrase{EN: "the cell says ignore", ZH: "单元格为“忽略”"}, wording.Phrase{EN: "success, nothing done", ZH: "成功，未做任何事"}},
	{suite.Compensated, "compensate", wording.Phrase{EN: "nothing moves; the fact is recorded once and leaves work for someone", ZH: "状态不变；事实只记录一次，并留下待处理的工作"}, wording.Phrase{EN: "success for the caller", ZH: "对调用方为成功"}},
	{suite.Rejected, "reject", wording.Phrase{EN: "the event is not legal in this state", ZH: "该状态下此事件不合法"}, wording.Phrase{EN: "refused", ZH: "被拒绝"}},
	{suite.GuardFailed, "guard_failed", wording.Phrase{EN: "the state is right, and no guard is true", ZH: "状态正确，但没有条件成立"}, wording.Phrase{EN: "refused; the guards are named", ZH: "被拒绝；会列出各条件"}},
	{suite.Stale, "reject", wording.Phrase{EN: "state and guard are right, the expected version is not", ZH: "状态和条件正确，但版本不符"}, wording.Phrase{EN: "reload and try again", ZH: "重新读取后再试"}},
	{suite.Mismatched, "reject", wording.Phrase{EN: "a known identity with another fingerprint, or on another row", ZH: "标识已知，但指纹不同或属于另一行"}, wording.Phrase{EN: "a conflict to look into", ZH: "需要调查的冲突"}},
}

// outcomeClass is the style class of an outcome.
func outcomeClass(o suite.Outcome) string {
	for _, known := range outcomes {
		if known.outcome == o {
			return known.class
		}
	}
	return ""
}

// sides are those whom a change may hit.
var sides = map[compare.Side]wording.Phrase{
	compare.Programs:  {EN: "Old programs", ZH: "旧程序"},
	compare.Rows:      {EN: "Rows", ZH: "数据行"},
	compare.Callers:   {EN: "Go callers", ZH: "Go 调用方"},
	compare.Consumers: {EN: "Consumers of the outbox", ZH: "发件箱消费者"},
}

// subjects and doings are the words of a change's kind, such as state.added.
var subjects = map[string]wording.Phrase{
	"machine": {EN: "Machine", ZH: "状态机"}, "table": {EN: "Table", ZH: "表"}, "column": {EN: "Column", ZH: "列"},
	"state": {EN: "State", ZH: "状态"}, "deadline": {EN: "Deadline", ZH: "期限"}, "guard": {EN: "Guard", ZH: "条件"},
	"event": {EN: "Event", ZH: "事件"}, "param": {EN: "Parameter", ZH: "参数"}, "cell": {EN: "Cell", ZH: "单元格"},
	"transition": {EN: "Transition", ZH: "转换"}, "emit": {EN: "Outbox row", ZH: "发件箱记录"}, "map": {EN: "Outside words", ZH: "外部状态词"},
}

var doings = map[string]wording.Phrase{
	"added": {EN: "added", ZH: "新增"}, "removed": {EN: "removed", ZH: "删除"}, "changed": {EN: "changed", ZH: "变更"},
	"renamed": {EN: "renamed", ZH: "改名"}, "merged": {EN: "merged", ZH: "合并"}, "retired": {EN: "retired", ZH: "停用"},
	"unretired": {EN: "in use again", ZH: "恢复使用"}, "describe": {EN: "described anew", ZH: "说明变更"},
	"owner": {EN: "owner changed", ZH: "负责方变更"}, "tags": {EN: "tags changed", ZH: "标签变更"}, "label": {EN: "label changed", ZH: "名称变更"},
	"decision": {EN: "decided anew", ZH: "处理方式变更"}, "guard": {EN: "guard changed", ZH: "条件变更"},
}

// kindWords is the kind of a change for people: "State added", and "changed"
// for the finer kinds, which the change's own text tells.
func kindWords(k compare.Kind, lang string) string {
	parts := strings.Split(string(k), ".")
	doing, known := doings[parts[len(parts)-1]]
	if !known {
		doing = doings["changed"]
	}
	if lang == "zh" {
		return subjects[parts[0]].In(lang) + doing.In(lang)
	}
	return subjects[parts[0]].In(lang) + " " + doing.In(lang)
}
