package genmatrix

import "github.com/pawl-go/pawl/internal/wording"

// The words around the machine's own.
var (
	wordMoves    = wording.Phrase{EN: "moves", ZH: "流转"}
	meansMoves   = wording.Phrase{EN: "the row moves to the state after the arrow", ZH: "记录进入箭头后的状态"}
	wordGuarded  = wording.Phrase{EN: "guarded", ZH: "带条件"}
	meansGuarded = wording.Phrase{EN: "the conditions in brackets are tried in this order, and the first true one is taken", ZH: "按顺序检查方括号中的条件，取第一个成立的"}

	cornerAcross = wording.Phrase{EN: "event ↓ · state →", ZH: "事件 ↓ · 状态 →"}
	cornerDown   = wording.Phrase{EN: "state ↓ · event →", ZH: "状态 ↓ · 事件 →"}

	title    = wording.Phrase{EN: "%s: state × event matrix", ZH: "%s：状态 × 事件矩阵"}
	matrix   = wording.Phrase{EN: "Matrix", ZH: "矩阵"}
	part     = wording.Phrase{EN: "Matrix, part %d of %d", ZH: "矩阵，第 %d 部分，共 %d 部分"}
	legend   = wording.Phrase{EN: "Legend", ZH: "图例"}
	states   = wording.Phrase{EN: "States", ZH: "状态"}
	events   = wording.Phrase{EN: "Events", ZH: "事件"}
	guards   = wording.Phrase{EN: "Guards", ZH: "条件"}
	writes   = wording.Phrase{EN: "Transitions", ZH: "流转"}
	cells    = wording.Phrase{EN: "Cells", ZH: "单元格"}
	source   = wording.Phrase{EN: "Source: %s", ZH: "来源：%s"}
	size     = wording.Phrase{EN: "%d states × %d events = %d cells", ZH: "%d 个状态 × %d 个事件 = %d 个单元格"}
	ownedBy  = wording.Phrase{EN: "Owner: %s", ZH: "负责人：%s"}
	byItself = wording.Phrase{EN: "by itself after %s", ZH: "%s后自动发生"}
	atMost   = wording.Phrase{EN: ", at most %d times", ZH: "，最多 %d 次"}
	emits    = wording.Phrase{EN: "emits %s", ZH: "发出 %s"}
	fact     = wording.Phrase{EN: "fact: %s", ZH: "事实：%s"}
	told     = wording.Phrase{EN: "A known fact is answered before any cell is looked at: the cells of an event with an identity speak of new facts.", ZH: "已知事实在查看单元格之前就得到答复：带标识的事件，其单元格只说明新事实。"}

	colState     = wording.Phrase{EN: "State", ZH: "状态"}
	colStateName = wording.Phrase{EN: "State label", ZH: "状态名称"}
	colEvent     = wording.Phrase{EN: "Event", ZH: "事件"}
	colEventName = wording.Phrase{EN: "Event label", ZH: "事件名称"}
	colVariant   = wording.Phrase{EN: "Variant", ZH: "分支"}
	colGuard     = wording.Phrase{EN: "Guard", ZH: "条件"}
	colOutcome   = wording.Phrase{EN: "Outcome", ZH: "结果"}
	colTo        = wording.Phrase{EN: "To", ZH: "目标状态"}
	colSets      = wording.Phrase{EN: "Sets", ZH: "写入"}
	colEmits     = wording.Phrase{EN: "Emits", ZH: "发出"}
	colNote      = wording.Phrase{EN: "Note", ZH: "备注"}
	colLabel     = wording.Phrase{EN: "Label", ZH: "名称"}
	colMeaning   = wording.Phrase{EN: "Meaning", ZH: "含义"}
	colMark      = wording.Phrase{EN: "Mark", ZH: "标记"}
	colDeadline  = wording.Phrase{EN: "Deadline", ZH: "期限"}
	colSource    = wording.Phrase{EN: "Source", ZH: "来源"}
	colParams    = wording.Phrase{EN: "Parameters", ZH: "参数"}
	colIdentity  = wording.Phrase{EN: "Identity", ZH: "标识"}
	colPrint     = wording.Phrase{EN: "Fingerprint", ZH: "指纹"}
	colFrom      = wording.Phrase{EN: "From", ZH: "来源状态"}
	colSQL       = wording.Phrase{EN: "SQL", ZH: "SQL"}
	colCount     = wording.Phrase{EN: "Cells", ZH: "单元格数"}
	colKind      = wording.Phrase{EN: "Cell", ZH: "单元格"}

	search = wording.Phrase{EN: "Search: a state, an event, what happens", ZH: "搜索：状态、事件、结果"}
	found  = wording.Phrase{EN: "# cells", ZH: "# 个单元格"}

	callback = wording.Phrase{EN: "callback", ZH: "外部回调"}
	internal = wording.Phrase{EN: "own", ZH: "自身"}
	expects  = wording.Phrase{EN: "expects the version", ZH: "须带版本号"}
)
