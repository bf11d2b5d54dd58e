package runbook

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
)

// cell is a value as it is printed, in which nothing can control a terminal: in a
// line, and, of JSON that has parts, in a block of lines. Both can be read as JSON.
type cell struct{ line, block string }

// cellOf is a value that PostgreSQL has written as text, nil for NULL.
func cellOf(v []byte, oid uint32) cell {
	switch {
	case v == nil:
		return cell{line: "-"}
	case oid == pgtype.ByteaOID:
		return bodyCell(string(v))
	case oid == pgtype.JSONOID, oid == pgtype.JSONBOID:
		return textCell(string(v))
	}
	return cell{line: shown(string(v))}
}

// shown is a value that cannot control a terminal or break a line.
func shown(v string) string {
	if v == "" || strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(v)
	}
	return v
}

// beginning is how many bytes of a body are shown that is no text.
const beginning = 32

// bodyCell is a body as its text, or as its length and beginning where it is none.
// The value is a bytea in hexadecimal, as PostgreSQL writes it unless told otherwise.
func bodyCell(v string) cell {
	digits, ok := strings.CutPrefix(v, `\x`)
	body, err := hex.DecodeString(digits)
	switch {
	case !ok || err != nil:
		return cell{line: shown(v)}
	case utf8.Valid(body):
		return textCell(string(body))
	case len(body) > beginning:
		return cell{line: fmt.Sprintf("%d bytes that are no UTF-8: %x…", len(body), body[:beginning])}
	}
	return cell{line: fmt.Sprintf("%d bytes that are no UTF-8: %x", len(body), body)}
}

// textCell is an object or an array as JSON, whatever else as shown has it.
func textCell(v string) cell {
	var line, block bytes.Buffer
	start := strings.TrimLeft(v, " \t\r\n")
	if !strings.HasPrefix(start, "{") && !strings.HasPrefix(start, "[") || json.Compact(&line, []byte(v)) != nil {
		return cell{line: shown(v)}
	}
	_ = json.Indent(&block, line.Bytes(), "", "  ") // it is JSON
	c := cell{line: escaped(line.String())}
	if strings.Contains(block.String(), "\n") {
		c.block = escaped(block.String())
	}
	return c
}

// escaped is JSON in which what cannot be printed is escaped. Only line ends can
// stand outside of its texts, and not raw within.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
