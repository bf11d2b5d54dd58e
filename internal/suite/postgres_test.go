package suite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// Every case is judged a second time, by the order of judgement as it is written
// down and with PostgreSQL to say which guards are true and what columns become.
func TestPostgreSQLAgreesWithTheData(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	judged := 0
	machines := []*model.Machine{sample(t, "order"), sample(t, "payment"), sample(t, "refund")}
	for _, src := range []string{account, parcel, rental} {
		machines = append(machines, machine(t, src))
	}
	for _, m := range machines {
		maker := For(m)
		for _, name := range []string{"all-cells", "guards", "races", "1-switch", "walks"} {
			s, err := maker.Make(name, 0)
			require.NoError(t, err)
			for _, c := range s.Cases {
				judged += judge(t, pool, m, c)
			}
		}
	}
	require.Greater(t, judged, 1000, "steps")
}

// row is a row as PostgreSQL has it: each column as a literal with its type.
type row struct {
	columns map[string]string
	state   *model.State
	version int
}

type fact struct {
	of          *row
	fingerprint string
}

// trial is the judgement of one case.
type trial struct {
	*testing.T
	pool  *pgxpool.Pool
	m     *model.Machine
	id    string
	facts map[string]fact
}

// judge returns how many steps of a case it has judged: all but those without
// values.
func judge(t *testing.T, pool *pgxpool.Pool, m *model.Machine, c *Case) int {
	t.Helper()
	j := &trial{t, pool, m, c.ID, map[string]fact{}}
	if len(c.Given) == 0 {
		require.NotEmpty(t, c.Steps[0].Unknown, c.ID)
		return 0
	}
	start := c.Start
	if start == nil {
		start = m.Initial()
	}
	one := j.insert(c.Given, start)
	other := j.insert(append(slices.Clone(c.Other), c.Given[min(len(c.Given), len(c.Other)):]...), start)
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Unknown != "" {
			return i
		}
		r := one
		if s.Other {
			require.NotEqual(t, c.Given[:len(c.Other)], c.Other, "%s: another row has another key", c.ID)
			r = other
		}
		require.Same(t, s.From, r.state, "%s: step %d", c.ID, i+1)
		j.step(r, s)
	}
	return len(c.Steps)
}

// insert makes a row, as PostgreSQL would if no column were left out that must
// have a value.
func (j *trial) insert(given []Value, state *model.State) *row {
	r := &row{columns: map[string]string{}, state: state, version: 1}
	for _, c := range slices.Concat(j.m.Table.Keys, j.m.Table.Columns) {
		r.columns[c.Name] = "NULL::" + c.Type.SQL
		if c.Default != nil {
			r.columns[c.Name] = "(" + c.Default.Source + ")::" + c.Type.SQL
		}
		if i := slices.IndexFunc(given, func(v Value) bool { return v.Name == c.Name }); i >= 0 {
			r.columns[c.Name] = "(" + given[i].SQL + ")::" + c.Type.SQL
		} else {
			require.True(j, c.Optional || c.Default != nil, "%s: no value for %s", j.id, c.Name)
		}
	}
	for _, v := range given {
		if v.Name == j.m.Table.Version {
			n, err := strconv.Atoi(v.SQL)
			require.NoError(j, err, j.id)
			r.version = n
		}
	}
	j.checks(r)
	return r
}

// checks asks whether the row passes all CHECKs.
func (j *trial) checks(r *row) {
	var all []*model.Expr
	for _, c := range j.m.Table.Columns {
		if c.Check != nil {
			all = append(all, c.Check)
		}
	}
	for i, passes := range j.eval(r, nil, nil, all, "((%s) IS NOT FALSE)::text") {
		require.Equal(j, "true", passes, "%s: %s of %v", j.id, all[i].Source, r.columns)
	}
}

// step judges a call in the order of the design, and compares.
func (j *trial) step(r *row, s *Step) {
	require.Len(j, s.Params, len(s.Event.Params), j.id)
	j.arguments(s)
	outcome, taken := j.judged(r, s)
	require.Equal(j, outcome, s.Outcome, "%s: %s of %v with %v", j.id, s.Event.Name, r.columns, s.Params)
	require.Same(j, taken, s.Transition, j.id)
	switch outcome {
	case Applied:
		j.moved(r, s, taken)
	case Compensated:
		require.Equal(j, s.Event.Cells[r.state.Index].Emit, s.Emit, j.id)
	default:
		require.Empty(j, s.Emit, j.id)
	}
	require.Same(j, r.state, s.To, j.id)
	remembered := len(s.Event.Identity) > 0 && (outcome == Applied || outcome == Compensated)
	require.Equal(j, remembered, s.Fact, j.id)
	if remembered {
		j.facts[s.Event.Name+told(s, s.Event.Identity)] = fact{r, told(s, s.Event.Fingerprint)}
	}
}

// arguments asks whether the parameters pass their CHECKs.
func (j *trial) arguments(s *Step) {
	for i, p := range s.Event.Params {
		require.Equal(j, p.Name, s.Params[i].Name)
		require.False(j, s.Params[i].Null && !p.Optional, "%s: %s is NULL", j.id, p.Name)
		if p.Check != nil {
			passes := j.eval(nil, s.Event, s.Params, []*model.Expr{p.Check}, "((%s) IS NOT FALSE)::text")
			require.Equal(j, "true", passes[0], "%s: %s with %v", j.id, p.Check.Source, s.Params)
		}
	}
}

func (j *trial) judged(r *row, s *Step) (Outcome, *model.Transition) {
	if known, is := j.facts[s.Event.Name+told(s, s.Event.Identity)]; is && len(s.Event.Identity) > 0 {
		if known.of == r && known.fingerprint == told(s, s.Event.Fingerprint) {
			return Replayed, nil
		}
		return Mismatched, nil
	}
	cell := s.Event.Cells[r.state.Index]
	for _, t := range cell.Transitions {
		if t.Guard != nil && j.eval(r, s.Event, s.Params, []*model.Expr{t.Guard.SQL}, "((%s) IS TRUE)::text")[0] != "true" {
			continue
		}
		if s.Version == WrongVersion {
			return Stale, nil
		}
		return Applied, t
	}
	require.False(j, s.Event.ExpectVersion && s.Version == AnyVersion, "%s: the event must expect a version", j.id)
	return map[model.Decision]Outcome{
		model.Reject: Rejected, model.Replay: Replayed, model.Ignore: Ignored, model.Compensate: Compensated, model.GuardFailed: GuardFailed,
	}[cell.Otherwise], nil
}

// moved takes a transition, and compares what is said of the columns with what
// PostgreSQL computes.
func (j *trial) moved(r *row, s *Step, t *model.Transition) {
	require.Equal(j, t.Emit, s.Emit, j.id)
	var sets []*model.Expr
	for _, a := range t.Set {
		sets = append(sets, a.Value)
	}
	after := slices.Clone(s.After)
	changed := map[string]string{}
	for i, text := range j.eval(r, s.Event, s.Params, sets, "(%s)::text") {
		c := t.Set[i].Column
		literal := "NULL::" + c.Type.SQL
		if text != null {
			literal = "('" + strings.ReplaceAll(text, "'", "''") + "')::" + c.Type.SQL
		}
		changed[c.Name] = literal
		if len(after) > 0 && after[0].Name == c.Name {
			var same bool
			sql := fmt.Sprintf("SELECT %s IS NOT DISTINCT FROM (%s)::%s", literal, after[0].SQL, c.Type.SQL)
			require.NoError(j, j.pool.QueryRow(context.Background(), sql).Scan(&same), sql)
			require.True(j, same, "%s: %s", j.id, sql)
			after = after[1:]
		}
	}
	require.Empty(j, after, "%s: values of columns that are not set, or in another order", j.id)
	for name, literal := range changed {
		r.columns[name] = literal
	}
	r.state, r.version = t.To, r.version+1
	j.checks(r)
}

func told(s *Step, params []*model.Param) string {
	var out strings.Builder
	for _, p := range params {
		out.WriteString("\x00" + s.Params[slices.Index(s.Event.Params, p)].Text)
	}
	return out.String()
}

const null = "\x00NULL"

// eval computes expressions, each within a form that gives a text.
func (j *trial) eval(r *row, event *model.Event, params []Value, exprs []*model.Expr, form string) []string {
	if len(exprs) == 0 {
		return nil
	}
	var fields, wanted []string
	if r != nil {
		for _, c := range slices.Concat(j.m.Table.Keys, j.m.Table.Columns) {
			fields = append(fields, r.columns[c.Name]+` AS "column `+c.Name+`"`)
		}
		status := j.m.Table.Status
		literal := "'" + status.Text(r.state.Name, r.state.Code) + "'::text"
		if status.Storage == model.StoredCode {
			literal = fmt.Sprintf("(%d)::%s", r.state.Code, status.Type)
		}
		fields = append(fields, literal+` AS "column `+status.Column+`"`, fmt.Sprintf(`(%d)::bigint AS "column %s"`, r.version, j.m.Table.Version))
	}
	for i, v := range params {
		fields = append(fields, fmt.Sprintf(`(%s)::%s AS "param %s"`, v.SQL, event.Params[i].Type.Base, v.Name))
	}
	for _, e := range exprs {
		var b strings.Builder
		for _, p := range e.Parts {
			switch p.Kind {
			case model.ColumnRef:
				b.WriteString(`"column ` + p.Text + `"`)
			case model.ParamRef:
				b.WriteString(`"param ` + p.Text + `"`)
			case model.Now:
				b.WriteString("(" + example.Now + "::timestamptz)")
			default:
				b.WriteString(p.Text)
			}
		}
		wanted = append(wanted, fmt.Sprintf(form, b.String()))
	}
	sql := "SELECT ARRAY[" + strings.Join(wanted, ", ") + "] FROM (SELECT " + strings.Join(fields, ", ") + " OFFSET 0) AS row"
	var found []*string
	require.NoError(j, j.pool.QueryRow(context.Background(), sql).Scan(&found), "%s: %s", j.id, sql)
	out := make([]string, len(found))
	for i, text := range found {
		out[i] = null
		if text != nil {
			out[i] = *text
		}
	}
	return out
}
