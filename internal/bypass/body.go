package bypass

import (
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pgparse"
)

// function looks into the body of CREATE FUNCTION and CREATE PROCEDURE. One
// that is written as BEGIN ATOMIC is part of the statement's own tree.
func (r *reader) function(st statement, n *pg.CreateFunctionStmt) {
	function := texts(n.GetFuncname())
	if n.GetReplace() {
		r.guardFunctionGone(st, function, "replaces")
	}
	var serves []trigger
	if len(function) > 0 {
		serves = r.scan.triggers[function[len(function)-1]]
	}
	r.options(st, n.GetOptions(), "sql", serves)
}

func (r *reader) do(st statement, n *pg.DoStmt) { r.options(st, n.GetArgs(), "plpgsql", nil) }

// options finds language and body.
func (r *reader) options(st statement, options []*pg.Node, language string, serves []trigger) {
	var body *pg.DefElem
	for _, o := range options {
		switch e := o.GetDefElem(); e.GetDefname() {
		case "language":
			language = lower(e.GetArg().GetString_().GetSval())
		case "as":
			body = e
		}
	}
	if body == nil {
		return
	}
	value := body.GetArg().GetString_().GetSval()
	if list := body.GetArg().GetList().GetItems(); len(list) > 0 {
		value = list[0].GetString_().GetSval()
	}
	at, t, ok := st.p.constant(int(body.GetLocation()), value)
	if !ok {
		r.unread(st.p.at(st.from), "the body was not found, so it is not looked into")
		return
	}
	switch language {
	case "internal":
	case "sql":
		r.nested(value, at)
	case "plpgsql":
		r.plpgsql(st, t, value, at, serves)
	default:
		r.unread(st.p.at(t.start), fmt.Sprintf("a body in %s is not looked into", language))
	}
}

// nested reads SQL that stands in a constant.
func (r *reader) nested(sql string, at func(int) int) {
	p, place, message := newPassage(sql, at)
	if p == nil {
		r.unread(place, "this is not looked into, since PostgreSQL cannot read it: "+message)
		return
	}
	for _, st := range r.parse(p, diag.Warning) {
		r.statement(st)
	}
}

// plpgsql reads a body in PL/pgSQL, statement by statement.
func (r *reader) plpgsql(st statement, constant token, value string, at func(int) int, serves []trigger) {
	p, place, message := newPassage(value, at)
	if p == nil {
		r.unread(place, "this body is not looked into, since PostgreSQL cannot read it: "+message)
		return
	}
	p.sql = value // there are no parameters of sqlc in a body
	b := &body{reader: r, p: p, serves: serves, used: map[int]bool{}}
	r.allowAbove(p, b.above)
	text := p.withoutRowTypes()
	tag := "$fsm$"
	for i := 0; strings.Contains(text, tag); i++ {
		tag = fmt.Sprintf("$fsm%d$", i)
	}
	tree, err := pgparse.PLpgSQL(st.p.sql[st.from:constant.start]+tag+text+tag+st.p.sql[constant.end:st.to], text)
	if err != nil {
		r.unread(at(0), "this body cannot be read in full: "+briefly(err))
		b.lexical()
		return
	}
	b.tree(tree)
}

// withoutRowTypes writes record over name%ROWTYPE, since the parser knows no
// tables and would take the variable for a plain value.
func (p *passage) withoutRowTypes() string {
	out := []byte(p.sql)
	for i, t := range p.tokens {
		if i < 2 || p.text(p.tokens[i-1]) != "%" || lower(p.text(t)) != "rowtype" {
			continue
		}
		first := i - 2
		for first >= 2 && p.text(p.tokens[first-1]) == "." {
			first -= 2
		}
		from := p.tokens[first].start
		if strings.ContainsAny(p.sql[from:t.end], "\n\r") || t.end-from < len("record") {
			continue
		}
		copy(out[from:t.end], "record"+strings.Repeat(" ", t.end-from-len("record")))
	}
	return string(out)
}
