package randommachine_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// row is what an answer shows of a row: the declared columns, and the deadline's.
type row struct {
	key     string
	columns oracle.Values
	due     time.Time
	runs    int
}

type (
	result      = fsm.Result[string, row]
	answer      = fsm.Answer[string, row]
	batchAnswer = fsm.BatchAnswer[string, row]
)

// values are what a call gives, by name, as it is sent.
type values map[string]any

// caller makes calls as generated code does, with nothing compiled: the generated
// statements through the runtime's own entry points.
type caller struct {
	*built
}

// known is the value that a text stands for, as internal/evaluate and the oracle
// know it, and nil for NULL.
func known(of model.Type, text *string) (any, error) {
	if text == nil {
		return nil, nil
	}
	var v any = *text
	var err error
	switch of.Kind {
	case model.KindInt16, model.KindInt32, model.KindInt64:
		v, err = strconv.ParseInt(*text, 10, 64)
	case model.KindBool:
		v, err = strconv.ParseBool(*text)
	case model.KindFloat64:
		v, err = strconv.ParseFloat(*text, 64)
	case model.KindTime:
		v, err = moment(*text)
	}
	if err != nil {
		return nil, err
	}
	return evaluate.Shown(of, v)
}

// moment reads a time as PostgreSQL writes it.
func moment(text string) (time.Time, error) {
	t, err := time.Parse("2006-01-02 15:04:05.999999-07", text)
	if err != nil {
		return time.Parse("2006-01-02 15:04:05.999999-07:00", text)
	}
	return t.UTC(), nil
}

// sent is the Go value that generated code sends for a text. A date of a key is text.
func sent(of model.Type, text *string, key bool) (any, error) {
	if text == nil {
		return nil, nil
	}
	switch of.Kind {
	case model.KindInt16:
		n, err := strconv.ParseInt(*text, 10, 16)
		return int16(n), err
	case model.KindInt32:
		n, err := strconv.ParseInt(*text, 10, 32)
		return int32(n), err
	case model.KindInt64:
		return strconv.ParseInt(*text, 10, 64)
	case model.KindBool:
		return strconv.ParseBool(*text)
	case model.KindFloat64:
		return strconv.ParseFloat(*text, 64)
	case model.KindTime:
		return moment(*text)
	case model.KindNumeric:
		var n pgtype.Numeric
		return n, n.Scan(*text)
	case model.KindDate:
		if key {
			return *text, nil
		}
		t, err := time.Parse("2006-01-02", *text)
		return pgtype.Date{Time: t, Valid: true}, err
	case model.KindJSON:
		return []byte(*text), nil
	case model.KindBytes:
		return bytesOf(*text)
	}
	return *text, nil
}

func bytesOf(text string) ([]byte, error) {
	n, ok := new(big.Int).SetString("1"+strings.TrimPrefix(text, `\x`), 16)
	if !ok {
		return nil, fmt.Errorf("%s is no bytea", text)
	}
	b := n.Bytes()
	return b[1:], nil
}

// checkValue is what generated code asks before any SQL of a value.
func checkValue(info *fsm.EventInfo, of model.Type, name string, v any) error {
	switch v := v.(type) {
	case string:
		if of.Kind == model.KindUUID {
			return fsm.UUIDText(info, name, v)
		}
	case float64:
		return fsm.FiniteFloat(info, name, v)
	case pgtype.Numeric:
		return fsm.FiniteNumeric(info, name, v)
	}
	return nil
}

// check is what generated code asks before any SQL of a call.
func (c caller) check(info *fsm.EventInfo, e *model.Event, key []string, v values) error {
	if err := c.checkKey(info, key); err != nil {
		return err
	}
	for _, p := range e.Params {
		if err := checkValue(info, p.Type, p.Name, v[p.Name]); err != nil {
			return err
		}
	}
	var texts []string
	for _, p := range slices.Concat(e.Identity, e.Fingerprint) {
		if p.Type.Kind != model.KindText {
			continue
		}
		if err := fsm.IdentityText(info, p.Name, v[p.Name].(string)); err != nil {
			return err
		}
	}
	for _, p := range e.Identity {
		if s, is := v[p.Name].(string); is {
			texts = append(texts, s)
		}
	}
	if len(e.Identity) > 1 && len(texts) > 0 {
		return fsm.IdentitySize(info, texts...)
	}
	return nil
}

func (c caller) checkKey(info *fsm.EventInfo, key []string) error {
	for i, k := range c.m.Table.Keys {
		switch k.Type.Kind {
		case model.KindUUID:
			if err := fsm.UUIDText(info, k.Name, key[i]); err != nil {
				return err
			}
		case model.KindDate:
			if err := fsm.DateText(info, k.Name, key[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyArg is the name by which a statement takes a column of the key.
func (c caller) keyArg(i int) string {
	if len(c.m.Table.Keys) == 1 {
		return "fsm_key"
	}
	return "fsm_key_" + c.m.Table.Keys[i].Name
}

// give adds the key to what is sent.
func (c caller) give(to values, key []string) error {
	for i, k := range c.m.Table.Keys {
		v, err := sent(k.Type, &key[i], true)
		if err != nil {
			return err
		}
		to[c.keyArg(i)] = v
	}
	return nil
}

// run runs a statement once for one row, and reads what it answers.
func (c caller) run(ctx context.Context, db fsm.DB, name string, v values, call *fsm.Call) (answer, error) {
	v["fsm_version"], v["fsm_now"] = call.Version, call.Now
	v["fsm_actor"], v["fsm_reason"], v["fsm_request_id"] = call.Actor, call.Reason, call.RequestID
	answers, err := c.query(ctx, db, name, v)
	switch {
	case err != nil:
		return answer{}, err
	case len(answers) == 0:
		return answer{}, pgx.ErrNoRows
	case len(answers) > 1:
		return answer{}, errors.New("the statement answers twice")
	}
	return answers[0].Answer, nil
}

// query runs a statement and reads its rows.
func (c caller) query(ctx context.Context, db fsm.DB, name string, v values) ([]batchAnswer, error) {
	rows, err := c.rows(ctx, db, name, v)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []batchAnswer
	for rows.Next() {
		a, err := c.answerOf(texts(rows))
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

func (c caller) rows(ctx context.Context, db fsm.DB, name string, v values) (pgx.Rows, error) {
	q, ok := c.queries[name]
	if !ok {
		return nil, fmt.Errorf("there is no statement %s", name)
	}
	args := []any{pgx.QueryResultFormats{pgx.TextFormatCode}}
	for _, p := range q.params {
		arg, given := v[p]
		if !given {
			return nil, fmt.Errorf("%s needs %s", name, p)
		}
		args = append(args, arg)
	}
	return db.Query(ctx, q.sql, args...)
}

// texts are the columns of the current row, nil for NULL.
func texts(rows pgx.Rows) map[string]*string {
	return textsOf(rows.FieldDescriptions(), rows.RawValues())
}

func textsOf(fields []pgconn.FieldDescription, raw [][]byte) map[string]*string {
	out := map[string]*string{}
	for i, f := range fields {
		out[f.Name] = nil
		if raw[i] != nil {
			text := string(raw[i])
			out[f.Name] = &text
		}
	}
	return out
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func number(s *string) int64 {
	n, _ := strconv.ParseInt(text(s), 10, 64) // 0 for NULL
	return n
}

func (c caller) answerOf(r map[string]*string) (batchAnswer, error) {
	t := c.m.Table
	a := batchAnswer{N: int32(number(r["fsm_n"]))}
	a.Outcome, a.Snapshot = text(r["fsm_outcome"]), text(r["fsm_snapshot"]) == "t"
	a.State, a.Version = text(r[t.Status.Column]), number(r[t.Version])
	a.Transition = fsm.Transition[string]{
		Event: text(r["fsm_made_event"]), Outcome: fsm.Outcome(text(r["fsm_made_outcome"])),
		From: text(r["fsm_made_from"]), To: text(r["fsm_made_to"]), Version: number(r["fsm_made_version"]),
	}
	var err error
	a.Row, err = c.rowOf(r)
	return a, err
}

// rowOf reads the columns of a row.
func (c caller) rowOf(r map[string]*string) (row, error) {
	t := c.m.Table
	out := row{columns: oracle.Values{}, runs: int(number(r[t.Runs]))}
	var key []string
	for _, k := range t.Keys {
		key = append(key, text(r[k.Name]))
	}
	out.key = c.canonical(key)
	for _, column := range t.Columns {
		v, err := known(column.Type, r[column.Name])
		if err != nil {
			return out, fmt.Errorf("%s: %w", column.Name, err)
		}
		out.columns[column.Name] = v
	}
	if due := r[t.Deadline]; due != nil {
		at, err := moment(*due)
		if err != nil {
			return out, err
		}
		out.due = at
	}
	return out, nil
}

// canonical is a key by which its row is known, whatever the spelling.
func (c caller) canonical(key []string) string {
	parts := make([]string, len(key))
	for i, k := range c.m.Table.Keys {
		parts[i] = key[i]
		switch k.Type.Kind {
		case model.KindUUID:
			parts[i] = fsm.CanonicalUUID(key[i])
		case model.KindBool:
			yes, _ := strconv.ParseBool(key[i])
			parts[i] = strconv.FormatBool(yes)
		}
	}
	return strings.Join(parts, "\x00")
}

func (c caller) info(e *model.Event) *fsm.EventInfo {
	return &fsm.EventInfo{Machine: c.m.Name, Event: e.Name, NeedsVersion: e.ExpectVersion}
}

// fire makes the call of an event.
func (c caller) fire(ctx context.Context, db fsm.DB, e *model.Event, key []string, v values, options ...fsm.Option) (result, error) {
	info := c.info(e)
	if err := c.check(info, e, key, v); err != nil {
		return result{}, err
	}
	if err := c.give(v, key); err != nil {
		return result{}, err
	}
	return fsm.Fire(ctx, db, info, options, guardsOf(e), func(ctx context.Context, db fsm.DB, call *fsm.Call) (answer, error) {
		return c.run(ctx, db, gensql.QueryName(c.m, e.Ident), v, call)
	})
}

// guardsOf names the guards that are tried in a state.
func guardsOf(e *model.Event) func(string) []fsm.Guard {
	return func(state string) []fsm.Guard {
		var guards []fsm.Guard
		for _, cell := range e.Cells {
			for _, t := range cell.Transitions {
				if cell.State.Name == state && t.Guard != nil {
					guards = append(guards, fsm.Guard{Name: t.Guard.Name, Describe: t.Guard.SQL.Source})
				}
			}
		}
		return guards
	}
}

// create makes the call that creates a row.
func (c caller) create(ctx context.Context, db fsm.DB, key []string, v values, options ...fsm.Option) (result, error) {
	info := &fsm.EventInfo{Machine: c.m.Name, Event: "create"}
	if err := c.checkKey(info, key); err != nil {
		return result{}, err
	}
	for _, column := range c.m.Created() {
		if err := checkValue(info, column.Type, column.Name, v[column.Name]); err != nil {
			return result{}, err
		}
	}
	if err := c.give(v, key); err != nil {
		return result{}, err
	}
	return fsm.FireCreate(ctx, db, info, options, func(ctx context.Context, db fsm.DB, call *fsm.Call) (answer, error) {
		return c.run(ctx, db, gensql.QueryName(c.m, "Create"), v, call)
	})
}

// correct forces a row into a state.
func (c caller) correct(ctx context.Context, db fsm.DB, key []string, to string, who fsm.Correction, options ...fsm.Option) (result, error) {
	info := &fsm.EventInfo{Machine: c.m.Name, Event: "correct"}
	if err := c.checkKey(info, key); err != nil {
		return result{}, err
	}
	if err := who.Check(info); err != nil {
		return result{}, err
	}
	v := values{"fsm_to": to}
	if err := c.give(v, key); err != nil {
		return result{}, err
	}
	return fsm.Fire(ctx, db, info, options, nil, func(ctx context.Context, db fsm.DB, call *fsm.Call) (answer, error) {
		call.Actor, call.Reason = who.Actor, who.Reason
		return c.run(ctx, db, gensql.QueryName(c.m, "Correct"), v, call)
	})
}

// sweep moves one page of the rows that are due.
func (c caller) sweep(ctx context.Context, db fsm.DB, e *model.Event, page fsm.SweepPage) ([]fsm.Swept, error) {
	info := c.info(e)
	rows, err := c.rows(ctx, db, gensql.QueryName(c.m, "Sweep"+e.Ident), values{
		"fsm_now": page.Now, "fsm_limit": page.Size(), "fsm_skip": page.Skipped(), "fsm_actor": page.Actor, "fsm_reason": "", "fsm_request_id": "",
	})
	if err != nil {
		return nil, fsm.SweepError(info, err)
	}
	defer rows.Close()
	var swept []fsm.Swept
	for rows.Next() {
		r := texts(rows)
		swept = append(swept, fsm.Swept{
			Machine: c.m.Name, Event: e.Name, Key: text(r["key"]), From: text(r["from_status"]), To: text(r["to_status"]), Version: number(r["version"]),
		})
	}
	if err := rows.Err(); err != nil {
		return nil, fsm.SweepError(info, err)
	}
	return swept, nil
}
