package gensvg

import "unicode"

// font is a size and a style of text.
type font struct {
	class string
	size  float64
	line  int // from one baseline to the next
	bold  bool
	mono  bool
}

// The fonts of a picture. Their classes are in the style.
var (
	fontTitle  = font{class: "t-title", size: 22, line: 28, bold: true}
	fontIntro  = font{class: "t-intro", size: 13, line: 18}
	fontState  = font{class: "t-state", size: 14, line: 18, bold: true}
	fontName   = font{class: "t-name", size: 10.5, line: 14, mono: true}
	fontNote   = font{class: "t-note", size: 10.5, line: 14}
	fontEvent  = font{class: "t-event", size: 12, line: 16}
	fontGuard  = font{class: "t-guard", size: 11, line: 15}
	fontLegend = font{class: "t-legend", size: 11, line: 15}
)

// widths are those of the printable ASCII characters in hundredths of the
// font's size, near the widest of the sans-serif fonts that systems have as
// their own: a narrower one leaves room, and none overflows.
var widths = [...]uint8{
	31, 38, 44, 80, 62, 92, 75, 26, 37, 37, 48, 80, 31, 35, 31, 33,
	62, 62, 62, 62, 62, 62, 62, 62, 62, 62, 33, 33, 80, 80, 80, 52,
	99, 67, 67, 70, 75, 63, 58, 77, 73, 29, 35, 65, 56, 86, 74, 78,
	62, 78, 70, 64, 61, 72, 68, 99, 68, 62, 66, 38, 33, 38, 80, 50,
	48, 60, 62, 54, 62, 60, 35, 62, 62, 27, 28, 56, 27, 97, 62, 60,
	62, 62, 41, 52, 38, 62, 58, 82, 58, 58, 52, 62, 33, 62, 80,
}

const monoWidth = 61

// advance is the width of one character in hundredths of the font's size. What
// joins the character before has none.
func advance(r rune, f font) float64 {
	switch {
	case r >= ' ' && r < 0x7f:
		if f.mono {
			return monoWidth
		}
		w := float64(widths[r-' '])
		if f.bold {
			w *= 1.12
		}
		return w
	case joins(r):
		return 0
	case wide(r):
		return 102
	case f.mono:
		return monoWidth
	case unicode.IsUpper(r):
		return 82
	}
	return 72
}

// joins reports whether the character is drawn with the one before it.
func joins(r rune) bool {
	return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r >= 0x1f3fb && r <= 0x1f3ff
}

// wide reports whether the character is as wide as high: Chinese, Japanese,
// Korean, full-width forms and emoji.
func wide(r rune) bool {
	return r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 ||
		r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f000 || r >= 0x2190 && r <= 0x2bff
}

// width is how wide the text is drawn at most, in units of the picture.
func width(text string, f font) int {
	sum := 0.0
	for _, r := range text {
		sum += advance(r, f)
	}
	return int(sum*f.size/100) + 1
}
