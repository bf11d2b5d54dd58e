package studio

import (
	"regexp"

	"github.com/pawl-go/pawl/internal/wording"
)

// reasonsZH are the inbox's own words for why an event is parked, dead or put off, and those
// of fsm for a call that came to nothing. The database has them in English; a reason that is
// none of these is the text of somebody's error.
var reasonsZH = map[string]string{
	"the machine has this fact, and it said something else": "状态机已有此事实，但内容不同",
	"no guard of the machine was true":                      "状态机没有条件成立",
	"the event was told before, and said something else":    "此事件曾以不同内容通知过",
	"given up: its processing was interrupted too often":    "已放弃：处理多次中断",
	"there was no time left":                                "剩余时间不足",
	"its time was up":                                       "处理超时",
	"the expected version was not the row's":                "期望的版本与行不符",
	"the handler panicked":                                  "处理程序发生 panic",
	"event came too early":                                  "事件来得过早",
	"no such row":                                           "没有这一行",
	"bad argument":                                          "参数错误",
	"row is contended":                                      "行被并发修改",
	"nothing was done":                                      "未做任何事",
	"outcome is unknown":                                    "结果未知",
	"unknown word":                                          "未知的状态词",
}

// ofCall finds the machine and the event of a call before what became of it.
var ofCall = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]* [A-Za-z][A-Za-z0-9_]*): (.*)$`)

// reasonText is a reason of the inbox in a language; empty where it is to be shown as it is.
func reasonText(reason, lang string) string {
	before := ""
	text, known := reasonsZH[reason]
	if m := ofCall.FindStringSubmatch(reason); !known && m != nil {
		text, known = reasonsZH[m[2]]
		before = m[1] + "："
	}
	if !known {
		return ""
	}
	return wording.Phrase{ZH: before + text}.In(lang)
}

// refusalsZH say why a delivery was not believed.
var refusalsZH = map[string]string{
	"too_large": "过大", "content_type": "内容类型", "key": "密钥", "key_source": "密钥来源", "recipient": "接收方", "future": "时间超前",
	"stale": "已过时", "signature": "签名", "header": "请求头", "form": "格式", "other": "其他",
}

// refusalText is the kind of a refusal, with its word as figures elsewhere have it.
func refusalText(kind, lang string) string {
	text, known := refusalsZH[kind]
	if !known {
		return kind
	}
	return wording.Phrase{EN: kind, ZH: text + "（" + kind + "）"}.In(lang)
}
