package gensvg

import "strings"

// palette is the colours of a theme, each by the name that the rules call it.
type palette []string

var light = palette{
	"GROUND", "#ffffff", "INK", "#17202b", "MUTED", "#5b6878", "LINE", "#768394", "BOX", "#ffffff", "EDGE", "#4a5868",
	"HAPPYFILL", "#ecf8f5", "HAPPY", "#0d8070", "CALLBACK", "#6a3fd0", "DEADLINE", "#a85608", "REJECT", "#b3261e", "COMPENSATE", "#b0187a",
	"PILLLINE", "#d6dde5", "PILL", "#f8fafc", "RULE", "#dde3ea",
}

var dark = palette{
	"GROUND", "#10161e", "INK", "#e9eef4", "MUTED", "#a3b1c0", "LINE", "#8494a5", "BOX", "#1b2430", "EDGE", "#93a4b5",
	"HAPPYFILL", "#123029", "HAPPY", "#38cdb8", "CALLBACK", "#b99fff", "DEADLINE", "#f2b25a", "REJECT", "#ff8f86", "COMPENSATE", "#ff86c8",
	"PILLLINE", "#3a4756", "PILL", "#18202b", "RULE", "#334050",
}

// rules are the style, with names for colours and SCOPE before each selector.
// Colours are written out since not every program that shows SVG knows variables.
const rules = `SCOPE.pawl-svg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif}
SCOPE.pawl-svg .ground,SCOPE.pawl-svg .behind{fill:GROUND}
SCOPE.pawl-svg text{fill:INK;font-size:12px}
SCOPE.pawl-svg .mid{text-anchor:middle}
SCOPE.pawl-svg .t-title{font-size:22px;font-weight:600}
SCOPE.pawl-svg .t-intro{font-size:13px;fill:MUTED}
SCOPE.pawl-svg .t-state{font-size:14px;font-weight:600}
SCOPE.pawl-svg .t-name{font-size:10.5px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:MUTED}
SCOPE.pawl-svg .t-note{font-size:10.5px;fill:MUTED}
SCOPE.pawl-svg .t-guard{font-size:11px;font-style:italic;fill:MUTED}
SCOPE.pawl-svg .t-legend{font-size:11px;fill:MUTED}
SCOPE.pawl-svg .line{fill:none;stroke:LINE;stroke-width:1.6}
SCOPE.pawl-svg .head{fill:LINE}
SCOPE.pawl-svg .glow{fill:none;stroke:HAPPY;stroke-opacity:.22;stroke-width:10;stroke-linecap:round}
SCOPE.pawl-svg .happy .line{stroke-width:2.2}
SCOPE.pawl-svg .plain.happy .line{stroke:HAPPY}
SCOPE.pawl-svg .plain.happy .head{fill:HAPPY}
SCOPE.pawl-svg .callback .line{stroke:CALLBACK}
SCOPE.pawl-svg .callback .head{fill:CALLBACK}
SCOPE.pawl-svg .deadline .line{stroke:DEADLINE;stroke-dasharray:6 4}
SCOPE.pawl-svg .deadline .head{fill:DEADLINE}
SCOPE.pawl-svg .pill{fill:PILL;stroke:PILLLINE}
SCOPE.pawl-svg text.callback{fill:CALLBACK}
SCOPE.pawl-svg text.deadline{fill:DEADLINE}
SCOPE.pawl-svg text.reject{fill:REJECT}
SCOPE.pawl-svg text.compensate{fill:COMPENSATE}
SCOPE.pawl-svg .mark{fill:none;stroke:MUTED;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
SCOPE.pawl-svg .mark.solid{fill:MUTED;stroke-width:.6}
SCOPE.pawl-svg .mark.callback{stroke:CALLBACK;fill:CALLBACK}
SCOPE.pawl-svg .mark.deadline{stroke:DEADLINE}
SCOPE.pawl-svg .mark.reject{stroke:REJECT}
SCOPE.pawl-svg .mark.compensate{stroke:COMPENSATE;fill:COMPENSATE}
SCOPE.pawl-svg .box{fill:BOX;stroke:EDGE;stroke-width:1.5}
SCOPE.pawl-svg .inner{fill:none;stroke:none}
SCOPE.pawl-svg .happy .box{fill:HAPPYFILL;stroke:HAPPY}
SCOPE.pawl-svg .final .inner{stroke:EDGE;stroke-width:1.3}
SCOPE.pawl-svg .resting .inner{stroke:EDGE;stroke-dasharray:3 3}
SCOPE.pawl-svg .happy.final .inner,SCOPE.pawl-svg .happy.resting .inner{stroke:HAPPY}
SCOPE.pawl-svg .retired .box{stroke-dasharray:2 4}
SCOPE.pawl-svg .focus .box{stroke-width:3}
SCOPE.pawl-svg .rule{fill:none;stroke:RULE}
SCOPE.pawl-svg .start{fill:INK}
SCOPE.pawl-svg .start .line{stroke:INK}
`

// Style returns the rules of a theme. They touch nothing outside elements of
// class pawl-svg. Those of Auto follow the reader's setting, unless an element
// around the picture, such as a page's root, says data-theme="light" or "dark".
func Style(t Theme) string {
	switch t {
	case Light:
		return light.rules("")
	case Dark:
		return dark.rules("")
	}
	return light.rules("") + "@media (prefers-color-scheme:dark){\n" + dark.rules("") + "}\n" +
		light.rules(`[data-theme="light"] `) + dark.rules(`[data-theme="dark"] `)
}

func (p palette) rules(scope string) string {
	return strings.NewReplacer(append([]string{"SCOPE", scope}, p...)...).Replace(rules)
}
