package example

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
)

// value makes a value of a literal, as the type shows it.
func value(name, sql string, t model.Type) Value {
	if sql == "NULL" {
		return Value{Name: name, SQL: sql, Null: true}
	}
	text := plain(sql)
	if t.Kind == model.KindNumeric && t.Precision > 0 && !strings.HasPrefix(sql, "'") {
		text = scaled(text, t.Scale)
		sql = text
	}
	return Value{Name: name, SQL: sql, Text: text}
}

// repeated is how package logic writes a long text.
var repeated = regexp.MustCompile(`^repeat\('(''|[^'])', ([0-9]{1,5})\)$`)

// plain is what a literal stands for, without quotes.
func plain(sql string) string {
	if found := repeated.FindStringSubmatch(sql); found != nil {
		n, _ := strconv.Atoi(found[2])
		return strings.Repeat(strings.ReplaceAll(found[1], "''", "'"), n)
	}
	if len(sql) >= 2 && sql[0] == '\'' && sql[len(sql)-1] == '\'' {
		return strings.ReplaceAll(sql[1:len(sql)-1], "''", "'")
	}
	return sql
}

// scaled shows a number with as many decimals as its type has.
func scaled(text string, scale int) string {
	whole, part, _ := strings.Cut(text, ".")
	if scale <= len(part) {
		return text
	}
	return whole + "." + part + strings.Repeat("0", scale-len(part))
}

// typed is a literal as a constant of a type, to stand in an expression.
func typed(sql string, t model.Type) string {
	switch {
	case sql == "NULL":
		return "(NULL)"
	case t.Kind == model.KindText:
		return quote(plain(sql)) + "::text"
	case t.Kind == model.KindBool:
		return sql
	}
	return "(" + sql + ")::" + t.Base
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
