package sheet

import (
	"fmt"
	"strings"
)

// Kind is how a cell looks. A look never says more than the cell's text does.
type Kind int

// Looks of cells.
const (
	Plain Kind = iota
	// Header is a table's first row and first column.
	Header
	// Moves, Guarded, Replay, Ignore, Reject and Compensate are what a cell of a
	// matrix does.
	Moves
	Guarded
	Replay
	Ignore
	Reject
	Compensate
	// Good, Bad and Open are results of tests: passed, failed, not yet known.
	Good
	Bad
	Open
	// Note is what stands beside the matter.
	Note
	kinds
)

// looks are the colours of the kinds: of the text, and of the ground, as RRGGBB;
// an empty one is the spreadsheet's own.
var looks = [kinds]struct {
	text, ground string
	bold, italic bool
}{
	Plain:      {},
	Header:     {"1F2937", "E5E7EB", true, false},
	Moves:      {"14532D", "DCFCE7", false, false},
	Guarded:    {"1E3A8A", "DBEAFE", false, false},
	Replay:     {"3F3F46", "EDE9FE", false, false},
	Ignore:     {"6B7280", "F9FAFB", false, false},
	Reject:     {"9F1239", "FFF1F2", false, false},
	Compensate: {"78350F", "FEF3C7", false, false},
	Good:       {"14532D", "BBF7D0", true, false},
	Bad:        {"7F1D1D", "FECACA", true, false},
	Open:       {"713F12", "FEF08A", false, false},
	Note:       {"6B7280", "", false, true},
}

// styleOf is the index of a cell's format in the styles part: one for each kind,
// with and without line breaks, and with and without the mark that keeps a
// spreadsheet from reading a text as a formula when it is edited.
func styleOf(kind Kind, wrap, quoted bool) int {
	if kind < 0 || kind >= kinds {
		kind = Plain
	}
	n := int(kind) * 4
	if wrap {
		n += 2
	}
	if quoted {
		n++
	}
	return n
}

// styles is the styles part.
func styles() string {
	var fonts, fills, formats, tints strings.Builder
	for kind := range kinds {
		look := looks[kind]
		font := mark(look.bold, "<b/>") + mark(look.italic, "<i/>") + `<sz val="11"/>` + colour("color", look.text) + `<name val="Calibri"/><family val="2"/>`
		fmt.Fprintf(&fonts, "<font>%s</font>", font)
		ground := `<patternFill patternType="none"/>`
		if look.ground != "" {
			ground = `<patternFill patternType="solid">` + colour("fgColor", look.ground) + `<bgColor indexed="64"/></patternFill>`
			fmt.Fprintf(&tints, `<dxf><font>%s</font><fill><patternFill patternType="solid">%s%s</patternFill></fill></dxf>`,
				colour("color", look.text), colour("fgColor", look.ground), colour("bgColor", look.ground))
		} else {
			tints.WriteString(`<dxf/>`)
		}
		fmt.Fprintf(&fills, "<fill>%s</fill>", ground)
		for i := range 4 {
			fmt.Fprintf(&formats, `<xf numFmtId="0" fontId="%d" fillId="%d" borderId="1" xfId="0"%s applyFont="1" applyFill="1" applyBorder="1" applyAlignment="1"><alignment vertical="top"%s/></xf>`,
				kind, int(kind)+reservedFills, mark(i&1 != 0, ` quotePrefix="1"`), mark(i&2 != 0, ` wrapText="1"`))
		}
	}
	side := func(name string) string {
		return "<" + name + ` style="thin">` + colour("color", "D1D5DB") + "</" + name + ">"
	}
	return xmlHead + `<styleSheet xmlns="` + nsMain + `">` +
		fmt.Sprintf(`<fonts count="%d">%s</fonts>`, kinds, fonts.String()) +
		fmt.Sprintf(`<fills count="%d"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>%s</fills>`, int(kinds)+reservedFills, fills.String()) +
		`<borders count="2"><border><left/><right/><top/><bottom/><diagonal/></border><border>` +
		side("left") + side("right") + side("top") + side("bottom") + `<diagonal/></border></borders>` +
		`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
		fmt.Sprintf(`<cellXfs count="%d">%s</cellXfs>`, int(kinds)*4, formats.String()) +
		`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>` +
		fmt.Sprintf(`<dxfs count="%d">%s</dxfs>`, kinds, tints.String()) + `</styleSheet>`
}

// reservedFills are the two that the format wants first.
const reservedFills = 2

func mark(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}

func colour(element, rgb string) string {
	if rgb == "" {
		return ""
	}
	return "<" + element + ` rgb="FF` + rgb + `"/>`
}
