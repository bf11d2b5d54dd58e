package gensuite

import (
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// What a tester reads, in both languages.
var (
	createRow  = wording.Phrase{EN: "Create a new row of %s.", ZH: "新建一条 %s 记录。"}
	startNew   = wording.Phrase{EN: "Start a new %s.", ZH: "新建一个 %s。"}
	rowStands  = wording.Phrase{EN: "A row of %s stands in state %s.", ZH: "有一条 %s 记录处于状态 %s。"}
	itStands   = wording.Phrase{EN: "%s stands in state %s.", ZH: "%s 处于状态 %s。"}
	oneWay     = wording.Phrase{EN: "One way there from its creation: %s.", ZH: "新建后到达该状态的一条路径：%s。"}
	noWay      = wording.Phrase{EN: "No event leads there: it is put there by hand.", ZH: "没有事件能到达该状态：需手工置入。"}
	rowIsNew   = wording.Phrase{EN: "There is no row of %s yet; the first step creates it.", ZH: "尚无 %s 记录；第一步新建。"}
	isNew      = wording.Phrase{EN: "There is no %s yet; the first step starts one.", ZH: "尚无 %s；第一步新建。"}
	itsValues  = wording.Phrase{EN: "Its values: %s.", ZH: "字段值：%s。"}
	rowValues  = wording.Phrase{EN: "its values are", ZH: "其字段值为"}
	callValues = wording.Phrase{EN: "these values are given", ZH: "给定以下值"}
	noteIt     = wording.Phrase{EN: "Note its version.", ZH: "记下它的版本号。"}
	call       = wording.Phrase{EN: "Call event %s.", ZH: "触发事件 %s。"}
	deliver    = wording.Phrase{EN: "Deliver callback %s.", ZH: "投递回调 %s。"}
	letPass    = wording.Phrase{EN: "Let %s pass, so that the deadline fires %s; or call the event.", ZH: "等待 %s，由到期触发 %s；也可直接触发该事件。"}
	theSame    = wording.Phrase{EN: "It is the same fact as before: the identity is the same.", ZH: "与之前是同一事实：标识相同。"}
	inFirst    = wording.Phrase{EN: "In a first session, without committing it yet:", ZH: "在第一个会话中，暂不提交："}
	inSecond   = wording.Phrase{EN: "In a second session, after the step before and before it is committed:", ZH: "在第二个会话中，上一步已执行、尚未提交时："}
	sendRight  = wording.Phrase{EN: "Give the row's version as the expected one.", ZH: "期望版本填写该行当前版本。"}
	sendWrong  = wording.Phrase{EN: "Give another version than the row's as the expected one.", ZH: "期望版本填写与该行不同的版本。"}
	chooseData = wording.Phrase{EN: "Choose row and parameters so that %s.", ZH: "选择记录与参数，使%s。"}
	holds      = wording.Phrase{EN: "this holds: %s", ZH: "此条件成立：%s"}
	fails      = wording.Phrase{EN: "this does not hold: %s", ZH: "此条件不成立：%s"}
	and        = wording.Phrase{EN: "; and ", ZH: "；且"}
	thereby    = wording.Phrase{EN: "Thereby %s.", ZH: "这样，%s。"}
	reason     = wording.Phrase{EN: "No values are given: %s.", ZH: "未给出取值：%s。"}
	otherRow   = wording.Phrase{EN: "A second row stands beside it in the same state, with the same values but for %s.", ZH: "另有一条记录处于同一状态，字段值相同，只是 %s。"}
	otherOne   = wording.Phrase{EN: "A second one stands beside it in the same state.", ZH: "另有一个处于同一状态。"}
	forOther   = wording.Phrase{EN: "For the second one:", ZH: "针对第二个："}
	commit     = wording.Phrase{EN: "Then commit the first; the call waits for that.", ZH: "随后提交第一个会话；此调用会等待它提交。"}
	rest       = wording.Phrase{EN: "Parameters: any.", ZH: "参数：任意。"}

	answer      = wording.Phrase{EN: "Answer: %s.", ZH: "应答：%s。"}
	rowMoved    = wording.Phrase{EN: "Row: state %s, version +1.", ZH: "记录：状态 %s，版本 +1。"}
	rowCreated  = wording.Phrase{EN: "Row: state %s, version 1.", ZH: "记录：状态 %s，版本 1。"}
	rowStays    = wording.Phrase{EN: "Row: still in state %s; version and values as before.", ZH: "记录：仍为状态 %s；版本与字段值不变。"}
	otherStays  = wording.Phrase{EN: "Second row: still in state %s; version and values as before.", ZH: "第二条记录：仍为状态 %s；版本与字段值不变。"}
	stateMoved  = wording.Phrase{EN: "State: %s.", ZH: "状态：%s。"}
	stateStays  = wording.Phrase{EN: "State: still %s.", ZH: "状态：仍为 %s。"}
	columns     = wording.Phrase{EN: "Columns: %s.", ZH: "字段：%s。"}
	deadlineSet = wording.Phrase{EN: "Deadline: %s.", ZH: "到期：%s。"}
	deadlineOff = wording.Phrase{EN: "Deadline: none any more.", ZH: "到期：已清除。"}
	historyNew  = wording.Phrase{EN: "History: one new row, %s → %s.", ZH: "历史：新增一行，%s → %s。"}
	historyOne  = wording.Phrase{EN: "History: one row, → %s.", ZH: "历史：一行，→ %s。"}
	historyOld  = wording.Phrase{EN: "History: no new row.", ZH: "历史：无新增。"}
	outbox      = wording.Phrase{EN: "Outbox: %s.", ZH: "发件箱：%s。"}
	outboxNone  = wording.Phrase{EN: "Outbox: nothing new.", ZH: "发件箱：无新增。"}
	factNew     = wording.Phrase{EN: "Facts: one new row.", ZH: "事实表：新增一行。"}
	factNone    = wording.Phrase{EN: "Facts: no new row.", ZH: "事实表：无新增。"}
	comma       = wording.Phrase{EN: ", ", ZH: "，"}
	brackets    = wording.Phrase{EN: "%s (%s)", ZH: "%s（%s）"}

	titleStep   = wording.Phrase{EN: "%s: %s → %s", ZH: "%s：%s → %s"}
	titleStays  = wording.Phrase{EN: "%s in %s: %s", ZH: "%[2]s 中 %[1]s：%[3]s"}
	titleCreate = wording.Phrase{EN: "create: → %s", ZH: "新建：→ %s"}
	titleThen   = wording.Phrase{EN: ", then ", ZH: "，然后 "}
	titleMore   = wording.Phrase{EN: "%s … (%d steps)", ZH: "%s …（共 %d 步）"}

	headID       = wording.Phrase{EN: "ID", ZH: "编号"}
	headTitle    = wording.Phrase{EN: "Title", ZH: "标题"}
	headPriority = wording.Phrase{EN: "Priority", ZH: "优先级"}
	headBefore   = wording.Phrase{EN: "Precondition", ZH: "前置条件"}
	headRow      = wording.Phrase{EN: "Row", ZH: "记录"}
	headStep     = wording.Phrase{EN: "Step", ZH: "步骤"}
	headAction   = wording.Phrase{EN: "Action", ZH: "操作"}
	headData     = wording.Phrase{EN: "Data", ZH: "数据"}
	headExpected = wording.Phrase{EN: "Expected", ZH: "预期结果"}
	headResult   = wording.Phrase{EN: "Result", ZH: "结果"}
	headRemark   = wording.Phrase{EN: "Remark", ZH: "备注"}
	headItem     = wording.Phrase{EN: "Item", ZH: "覆盖项"}
	headKind     = wording.Phrase{EN: "Kind", ZH: "类型"}
	headCovered  = wording.Phrase{EN: "Covered", ZH: "已覆盖"}
	headCases    = wording.Phrase{EN: "Cases", ZH: "用例"}
	headWhy      = wording.Phrase{EN: "Why not", ZH: "未覆盖原因"}
	coverageName = wording.Phrase{EN: "Coverage", ZH: "覆盖率"}
	casesName    = wording.Phrase{EN: "Cases", ZH: "用例"}
	yes          = wording.Phrase{EN: "yes", ZH: "是"}
	no           = wording.Phrase{EN: "no", ZH: "否"}
	passed       = wording.Phrase{EN: "Passed", ZH: "通过"}
	failed       = wording.Phrase{EN: "Failed", ZH: "失败"}
	blocked      = wording.Phrase{EN: "Blocked", ZH: "受阻"}
	notRun       = wording.Phrase{EN: "Not run", ZH: "未执行"}

	priorities = [...]wording.Phrase{low: {EN: "Low", ZH: "低"}, normal: {EN: "Normal", ZH: "中"}, high: {EN: "High", ZH: "高"}}

	suiteTitle  = wording.Phrase{EN: "Test suite %s of %s", ZH: "%[2]s 的测试套件 %[1]s"}
	suiteCounts = wording.Phrase{EN: "%d cases, %d steps; %d of %d items covered (%s).", ZH: "%d 个用例，%d 个步骤；覆盖 %d / %d 项（%s）。"}
	noCases     = wording.Phrase{EN: "This machine has no case of this suite.", ZH: "该状态机没有此套件的用例。"}
	fromState   = wording.Phrase{EN: "From state %s", ZH: "从状态 %s开始"}
	fromNew     = wording.Phrase{EN: "From a row's creation", ZH: "从新建开始"}
	ofMachine   = wording.Phrase{EN: "Machine %s: %s", ZH: "状态机 %s：%s"}
	uncovered   = wording.Phrase{EN: "**not covered**: %s", ZH: "**未覆盖**：%s"}
)

// criteria say what a suite is for.
var criteria = map[string]wording.Phrase{
	"all-cells":   {EN: "Every cell once: each event in each state.", ZH: "每个单元格一次：每个状态下的每个事件。"},
	"guards":      {EN: "Every guard true and not true, and at its boundaries.", ZH: "每个条件成立与不成立，以及边界值。"},
	"races":       {EN: "Every two events that one state allows, in two sessions at once.", ZH: "同一状态允许的每两个事件，在两个会话中并发。"},
	"n-plus":      {EN: "The ways of the round-trip tree from a row's creation, and what must not move the row.", ZH: "从新建开始的往返树各路径，以及不得移动记录的情形。"},
	"tour":        {EN: "Every transition in one walk that is as short as can be.", ZH: "一次尽可能短的遍历走完全部转移。"},
	"tour=closed": {EN: "Every transition in one walk, as short as can be, back to where it began.", ZH: "一次尽可能短的遍历走完全部转移并回到起点。"},
	"walks":       {EN: "Every transition in as few walks as can be.", ZH: "用尽可能少的遍历走完全部转移。"},
	"0-switch":    {EN: "Every transition by itself.", ZH: "每个转移单独一次。"},
	"1-switch":    {EN: "Every two transitions that can follow each other.", ZH: "每两个相邻的转移。"},
}

var sequences = wording.Phrase{EN: "Every sequence of so many transitions and one more.", ZH: "每个由 N+1 个转移组成的序列。"}

// outcomes are the runtime's words, for readers of Chinese.
var outcomes = map[suite.Outcome]wording.Phrase{
	suite.Applied:     {EN: "", ZH: "已生效"},
	suite.Replayed:    {EN: "success, nothing done", ZH: "成功，未做任何事"},
	suite.Ignored:     {EN: "success, nothing done", ZH: "成功，未做任何事"},
	suite.Compensated: {EN: "success for the caller, work for someone", ZH: "对调用方成功，留下待处理的工作"},
	suite.Rejected:    {EN: "refused", ZH: "拒绝"},
	suite.GuardFailed: {EN: "refused: no guard is true", ZH: "拒绝：没有条件成立"},
	suite.Stale:       {EN: "refused: the version is another one", ZH: "拒绝：版本不符"},
	suite.Mismatched:  {EN: "a conflict to look into", ZH: "需要核查的冲突"},
}

// itemKinds name what is covered.
var itemKinds = map[suite.ItemKind]wording.Phrase{
	suite.ItemCell:       {EN: "cell", ZH: "单元格"},
	suite.ItemTransition: {EN: "transition", ZH: "转移"},
	suite.ItemSequence:   {EN: "sequence", ZH: "序列"},
	suite.ItemGuard:      {EN: "guard", ZH: "条件"},
	suite.ItemRace:       {EN: "race", ZH: "并发"},
	suite.ItemFact:       {EN: "fact", ZH: "事实"},
	suite.ItemVersion:    {EN: "version", ZH: "版本"},
}
