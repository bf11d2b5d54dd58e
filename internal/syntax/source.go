package syntax

import (
	"bytes"
	"sort"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-go/pawl/internal/diag"
)

// MaxBytes is the size of the largest definition that is read: room for a
// thousand states and ten thousand transitions with guards, sets and emits,
// each on several lines.
const MaxBytes = 4 << 20

const (
	// maxLineBytes keeps columns cheap to count: a position is found by
	// walking its line.
	maxLineBytes = 16 << 10
	maxDepth     = 64
	// maxStandIns and maxReread bound how often, and how much, is read again
	// after a character that no value may begin with.
	maxStandIns = 10
	maxReread   = 256 << 10
	maxProblems = 100
)

// source is a text and the places where its lines begin.
type source struct {
	file  string
	text  []byte
	lines []int
	// stoodIn has the characters that no plain text may begin with and that were
	// told and replaced, so that the rest could be read; by offset.
	stoodIn map[int]byte
}

func newSource(file string, text []byte) *source {
	s := &source{file: file, text: text, lines: make([]int, 1, bytes.Count(text, []byte("\n"))+1)}
	for i, b := range text {
		if b == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// standIn puts another character in the place of one that stops the library,
// and reports whether it is one that a value written without quotes may well
// begin with.
func (s *source) standIn(offset int) bool {
	if len(s.text) > maxReread || len(s.stoodIn) == maxStandIns || offset >= len(s.text) || s.text[offset] != '@' && s.text[offset] != '`' {
		return false
	}
	if s.stoodIn == nil {
		s.stoodIn = make(map[int]byte)
		s.text = bytes.Clone(s.text)
	}
	s.stoodIn[offset] = s.text[offset]
	s.text[offset] = 'x'
	return true
}

// line returns a line, counted from 0, without its line break; nil when there
// is none.
func (s *source) line(n int) []byte {
	if n < 0 || n >= len(s.lines) {
		return nil
	}
	end := len(s.text)
	if n+1 < len(s.lines) {
		end = s.lines[n+1] - 1
	}
	return bytes.TrimSuffix(s.text[s.lines[n]:end], []byte("\r"))
}

// position turns a byte offset into a position. An offset inside a character
// gives where that character begins.
func (s *source) position(offset int) diag.Position {
	offset = min(max(offset, 0), len(s.text))
	for offset > 0 && offset < len(s.text) && !utf8.RuneStart(s.text[offset]) {
		offset--
	}
	n := sort.SearchInts(s.lines, offset+1) - 1
	col := utf8.RuneCount(s.text[s.lines[n]:offset]) + 1
	return diag.Position{File: s.file, Line: n + 1, Col: col}
}

// offset turns a position of the library into a byte offset.
func (s *source) offset(line, col int) int {
	if line < 1 || line > len(s.lines) {
		return len(s.text)
	}
	at := s.lines[line-1]
	for ; col > 1 && at < len(s.text); col-- {
		_, size := utf8.DecodeRune(s.text[at:])
		at += size
	}
	return at
}

// word returns what stands at a place up to the next blank, comma or bracket.
func (s *source) word(pos diag.Position) string {
	rest := s.text[s.offset(pos.Line, pos.Col):]
	if len(rest) == 0 {
		return ""
	}
	if end := bytes.IndexAny(rest[1:], " \t\r\n,[]{}"); end >= 0 {
		rest = rest[:1+end]
	}
	return string(rest)
}

// first reports whether nothing but blanks stands before a place on its line.
func (s *source) first(pos diag.Position) bool {
	line := s.line(pos.Line - 1)
	before := min(s.offset(pos.Line, pos.Col)-s.offset(pos.Line, 1), len(line))
	return len(bytes.TrimLeft(line[:before], " \t")) == 0
}

// reporter adds problems until there are too many to be read.
type reporter struct {
	list  *diag.List
	file  string
	count int
}

func (r *reporter) add(pos diag.Position, code diag.Code, format string, args ...any) {
	r.count++
	switch {
	case r.count <= maxProblems:
		r.list.Addf(pos, code, diag.Error, format, args...)
	case r.count == maxProblems+1:
		r.list.Addf(diag.Position{File: r.file}, CodeTooMany, diag.Error,
			"this file has more than %d syntax problems; the rest is not listed", maxProblems)
	}
}

func (r *reporter) full() bool { return r.count > maxProblems }

// checkText looks at the bytes before the library does, since the library
// reads some of them in its own way. It reports whether to go on.
func (r *reporter) checkText(s *source) bool {
	before := r.count
	for i := range s.lines {
		if r.full() {
			break
		}
		r.checkLine(s, i)
	}
	return r.count == before
}

func (r *reporter) checkLine(s *source, n int) {
	line := s.line(n)
	pos := diag.Position{File: s.file, Line: n + 1, Col: 1}
	if len(line) > maxLineBytes {
		r.add(pos, CodeTooLarge, "this line is longer than %d bytes; split it into several lines", maxLineBytes)
		return
	}
	if len(line) > 0 && line[0] == '%' {
		r.add(pos, CodeDirective, "a line begins with %%: YAML directives are not used here")
		return
	}
	for len(line) > 0 && !r.full() {
		if b := line[0]; ' ' <= b && b <= '~' || b == '\t' { // nearly all are
			line = line[1:]
			pos.Col++
			continue
		}
		c, size := utf8.DecodeRune(line)
		switch {
		case c == utf8.RuneError && size == 1:
			r.add(pos, CodeEncoding, "byte 0x%02x is not UTF-8; save the file as UTF-8", line[0])
			return // what follows on this line would be guesswork
		case hidden(c):
			r.add(pos, CodeControl, "the control character U+%04X is not allowed; delete it", c)
		}
		line = line[size:]
		pos.Col++
	}
}

// hidden reports whether a character is refused: controls except the tab,
// foreign line breaks, marks that reorder text, and misplaced byte order marks.
func hidden(c rune) bool {
	switch {
	case c == '\t':
		return false
	case unicode.IsControl(c), c == '\u2028', c == '\u2029', c == '\uFEFF', c >= 0xFFFE && c <= 0xFFFF:
		return true
	}
	return unicode.Is(unicode.Bidi_Control, c)
}
