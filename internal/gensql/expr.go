package gensql

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/model"
)

// now is the injected clock in a query.
const now = "COALESCE(sqlc.narg('fsm_now')::timestamptz, now())"

// args spells what the caller gives: as parameters of the query, or in a batch
// as columns of a part of the statement that has them for each item.
type args struct {
	// item is the alias of that part; empty for parameters.
	item string
	// used collects the parameters that are spelled as columns.
	used *[]*model.Param
}

// param is a parameter of the event, cast to its type.
func (a args) param(p *model.Param) string {
	if a.item == "" {
		return bind(p.Name, p.Type, p.Optional)
	}
	if !slices.Contains(*a.used, p) {
		*a.used = append(*a.used, p)
	}
	return a.item + "." + argColumn(p)
}

// version is the expected version, NULL for none.
func (a args) version() string {
	if a.item == "" {
		return "sqlc.narg('fsm_version')::bigint"
	}
	return a.item + ".fsm_version"
}

// who are the arguments for the columns of whoColumns.
func (a args) who() string {
	if a.item == "" {
		return "@fsm_actor::text, @fsm_reason::text, @fsm_request_id::text"
	}
	return qualify(a.item, whoArgs)
}

// within is the parameter that is part i of an expression.
func (a args) within(e *model.Expr, i int) string {
	part := e.Parts[i]
	p := a.param(part.Param)
	if a.item != "" {
		return p
	}
	if len(e.Parts) > 1 && !part.Param.Optional {
		// @name is an operator to PostgreSQL's parser, which would take in what stands beside it.
		p = fmt.Sprintf("sqlc.arg('%s')::%s", part.Param.Name, bare(part.Param.Type))
	}
	if i+1 < len(e.Parts) && strings.HasPrefix(e.Parts[i+1].Text, "::") {
		p = "COALESCE(" + p + ")" // sqlc names a parameter anew when two casts follow it
	}
	return p
}

// bind casts a parameter to its bare type. A cast to varchar(5) or
// numeric(10,2) would cut or round in silence, and let one key or identity
// stand for another; without it the column itself refuses what is too long.
func bind(name string, t model.Type, optional bool) string {
	if optional {
		return fmt.Sprintf("sqlc.narg('%s')::%s", name, bare(t))
	}
	return arg(name) + "::" + bare(t)
}

// arg is a parameter as sqlc reads it. @name is an operator and a column's name
// to PostgreSQL's parser, which stops at a reserved word.
func arg(name string) string {
	if ident(name) != name {
		return "sqlc.arg(" + literal(name) + ")"
	}
	return "@" + name
}

func bare(t model.Type) string {
	if t.Kind == model.KindText {
		return "text"
	}
	return t.Base
}

// inQuery renders an expression of the definition for a query in which the
// guarded row is called alias.
func (a args) inQuery(e *model.Expr, alias string) string {
	var b strings.Builder
	for i, part := range e.Parts {
		switch part.Kind {
		case model.ColumnRef:
			b.WriteString(alias + "." + ident(part.Text))
		case model.ParamRef:
			b.WriteString(a.within(e, i))
		case model.Now:
			b.WriteString(now)
		default:
			b.WriteString(part.Text)
		}
	}
	return oneLine(unbroken.Replace(b.String()))
}

// inTable renders an expression for a table definition.
func inTable(e *model.Expr) string {
	var b strings.Builder
	for _, part := range e.Parts {
		switch part.Kind {
		case model.ColumnRef:
			b.WriteString(ident(part.Text))
		case model.Now:
			b.WriteString("now()")
		default:
			b.WriteString(part.Text)
		}
	}
	return oneLine(b.String())
}

// oneLine keeps a many-line expression from upsetting the layout, where it can
// do so without touching a string constant, between dollars or quotes.
func oneLine(sql string) string {
	if strings.ContainsAny(sql, "'$") {
		return sql
	}
	return strings.Join(strings.Fields(sql), " ")
}

// unbroken is an expression without line breaks, of which none stands in a constant.
// sqlc takes lines that begin with # out of a query, as MySQL's comments, and # is an
// operator.
var unbroken = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// isTrue and isFalse are a guard's condition and its refusal: NULL is not true.
func (a args) isTrue(g *model.Guard, alias string) string {
	return "(" + a.inQuery(g.SQL, alias) + ") IS TRUE"
}

// interval is a duration as PostgreSQL writes it: whole hours and less are
// exact, a day is 24 hours.
func interval(d time.Duration) string {
	return fmt.Sprintf("interval '%s'", intervalText(d))
}

func intervalText(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d hours", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	case d%time.Second == 0:
		return fmt.Sprintf("%d seconds", d/time.Second)
	}
	return fmt.Sprintf("%d microseconds", d/time.Microsecond)
}

// identity is the canonical text of an event's identity, or of its
// fingerprint: one text as it is, another type in PostgreSQL's own spelling,
// several as a JSON array of both kinds, the empty list as ”.
func (a args) identity(params []*model.Param) string {
	switch {
	case len(params) == 0:
		return "''"
	case len(params) == 1 && params[0].Type.Kind == model.KindText:
		return a.param(params[0])
	case len(params) == 1:
		return "concat(" + a.param(params[0]) + ")" // a second cast would make sqlc name the parameter anew
	}
	texts := make([]string, len(params))
	for i, p := range params {
		texts[i] = a.param(p)
	}
	return built("jsonb_build_array", texts, maxArgs) + "::text"
}
