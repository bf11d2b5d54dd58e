package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/testdb"
)

// lives are three definitions of one machine: with a state REVIEW; with it
// retired, PAID called SETTLED and given a deadline; and without REVIEW
// and the former name.
func (s storage) lives(t *testing.T, k keyed, taken bool) (first, second, third *model.Machine) {
	t.Helper()
	s.isPaid = "state IS NOT NULL"
	code := ""
	if s.codes {
		code = ", code: 60"
	}
	v1 := strings.NewReplacer(
		"  CANCELLED: {", "  REVIEW:    {resting: true"+code+"}\n  CANCELLED: {",
		"  pay:    {", "  inspect: {otherwise: {replay: [REVIEW], reject: '*'}}\n  release: {otherwise: {replay: [PENDING], reject: '*'}}\n  pay:    {",
		"transitions:\n", "transitions:\n  - {event: inspect, from: PENDING, to: REVIEW}\n  - {event: release, from: REVIEW, to: PENDING}\n",
	).Replace(s.definition(k))
	if taken {
		v1 = existing(v1)
	}
	v2 := strings.NewReplacer(
		"REVIEW:    {resting: true", "REVIEW:    {resting: true, retired: true",
		"  inspect: {otherwise: {replay: [REVIEW], reject: '*'}}\n", "", "  - {event: inspect, from: PENDING, to: REVIEW}\n", "",
		"  PAID:      {resting: true", "  SETTLED:   {was: PAID, deadline: {after: 240h, event: expire}",
		"to: PAID,", "to: SETTLED,", "from: PAID,", "from: SETTLED,",
		"from: PENDING,           to: CANCELLED", "from: [PENDING, SETTLED], to: CANCELLED",
	).Replace(v1)
	v3 := strings.NewReplacer(
		"  REVIEW:    {resting: true, retired: true"+code+"}\n", "",
		"  release: {otherwise: {replay: [PENDING], reject: '*'}}\n", "", "  - {event: release, from: REVIEW, to: PENDING}\n", "",
		"{was: PAID, ", "{", // the rename is through, and fsm_audit tells of PAID for ever
	).Replace(v2)
	return machineOf(t, v1), machineOf(t, v2), machineOf(t, v3)
}

// lifetime is the migrations of a machine, as far as they are rendered, with
// what each of them made.
type lifetime struct {
	t     *testing.T
	files fstest.MapFS
	made  []gensql.Schema
}

func (l *lifetime) newest() *gensql.Schema {
	if len(l.made) == 0 {
		return nil
	}
	return &l.made[len(l.made)-1]
}

// land adds migrations and returns the version of the last one.
func (l *lifetime) land(contents ...[]byte) int64 {
	l.t.Helper()
	require.NotEmpty(l.t, contents)
	for _, content := range contents {
		schemas, err := gensql.Embedded(content)
		require.NoError(l.t, err)
		l.made = append(l.made, schemas...)
		l.files[fmt.Sprintf("%05d_parcel.sql", len(l.files)+1)] = &fstest.MapFile{Data: content}
	}
	return int64(len(l.files))
}

func (l *lifetime) advance(m *model.Machine) int64 {
	l.t.Helper()
	var problems diag.List
	contents := gensql.Advance(m, *l.newest(), &problems)
	require.Empty(l.t, problems.Sorted())
	return l.land(contents...)
}

// stage is a step of a lifetime: the database at a version, the program that
// comes with it, the definition of that time and what was before.
type stage struct {
	name    string
	version int64
	m       *model.Machine
	past    model.Past
	program program
}

func (l *lifetime) stage(name string, version int64, m *model.Machine, k keyed) stage {
	return stage{name, version, m, gensql.PastOf(l.made), programOf(l.t, m, l.newest(), k.args)}
}

// stages renders the whole lifetime.
func (l *lifetime) stages(st storage, k keyed, taken bool) []stage {
	v1, v2, v3 := st.lives(l.t, k, taken)
	stages := []stage{l.stage("first", l.land(migrationOf(l.t, v1, nil)), v1, k)}
	for _, step := range []struct {
		name string
		land func() int64
		m    *model.Machine
	}{
		{"expand", func() int64 { return l.land(migrationOf(l.t, v2, l.newest())) }, v2},
		{"migrate", func() int64 { return l.advance(v2) }, v2},
		{"contract", func() int64 { return l.advance(v2) }, v2},
		{"gone", func() int64 { return l.land(migrationOf(l.t, v3, l.newest())) }, v3},
	} {
		version := step.land()
		stages = append(stages, l.stage(step.name, version, step.m, k))
	}
	return stages
}

// At every step of a rename and of a retirement, with the program of before and
// the one that comes both having written, an audit by the definition finds
// nothing, and in a damaged database the damage alone.
func TestAnAuditAtEveryStep(t *testing.T) {
	t.Parallel()
	everyTable(t, func(t *testing.T, st storage, k keyed, taken bool) {
		s := &shop{t, testdb.New(t)}
		if taken {
			s.exec(st.before(k))
		}
		l := &lifetime{t: t, files: fstest.MapFS{"00001_core.sql": {Data: gensql.Core()}}}
		stages := l.stages(st, k, taken)
		conn := stdlib.OpenDB(*s.pool.Config().ConnConfig)
		t.Cleanup(func() { _ = conn.Close() })
		provider, err := goose.NewProvider(goose.DialectPostgres, conn, l.files, goose.WithDisableGlobalRegistry(true))
		require.NoError(t, err)
		for i, now := range stages {
			if now.name == "gone" { // rows leave the state before it goes
				for _, id := range []int{1010, 2000} {
					stages[i-1].program.does(s, k, id, "Applied PENDING", "Release", nil)
				}
			}
			_, err := provider.UpTo(t.Context(), now.version)
			require.NoError(t, err, now.name)
			s.finds(nothing, now.m, now.past)
			if i > 0 {
				s.traffic(k, 1000*i+1000, stages[i-1])
				s.finds(nothing, now.m, now.past)
			}
			s.traffic(k, 1000*i+1010, now)
			s.finds(nothing, now.m, now.past)
			s.damages(st, k, 1000*i+1010, now)
			s.finds(nothing, now.m, now.past)
		}
	})
}

// traffic makes rows from an id on and brings each somewhere else; the first
// stays in REVIEW where the program knows a way there.
func (s *shop) traffic(k keyed, id int, of stage) {
	s.t.Helper()
	p, paid := of.program, "PAID"
	if of.m.State(paid) == nil {
		paid = "SETTLED"
	}
	for n := range 7 {
		p.does(s, k, id+n, "Applied PENDING 1", "Create", args{"total_cents": 100})
	}
	if _, knows := p.queries["Inspect"]; knows {
		p.does(s, k, id, "Applied REVIEW 2", "Inspect", nil)
		p.does(s, k, id+1, "Applied REVIEW 2", "Inspect", nil)
		p.does(s, k, id+1, "Applied PENDING 3", "Release", nil)
	}
	pays := func(id int) args { return args{"nr": fmt.Sprint("N", id), "cents": 100} }
	p.does(s, k, id+2, "Applied "+paid+" 2", "Paid", pays(id+2))
	p.does(s, k, id+2, "Compensated "+paid+" 2", "Paid", args{"nr": fmt.Sprint("M", id), "cents": 100})
	p.does(s, k, id+3, "Applied PAYING 2", "Pay", nil)
	p.does(s, k, id+3, "Applied "+paid+" 3", "Paid", pays(id+3))
	p.does(s, k, id+3, "Applied SHIPPED 4", "Ship", args{"limit_cents": 100})
	p.does(s, k, id+4, "Applied "+paid+" 2", "Correct", args{"fsm_to": paid, "fsm_actor": "ann", "fsm_reason": "ticket"})
}

// damages plants damage in rows of the traffic, looks that it is found, and
// takes it away again.
func (s *shop) damages(st storage, k keyed, id int, now stage) {
	s.t.Helper()
	row := func(n int) string { return strings.Replace(k.where, "id = 7", fmt.Sprint("id = ", id+n), 1) }
	r := strings.NewReplacer(":two", row(2), ":five", row(5), ":six", row(6), ":shipped", st.raw["SHIPPED"], ":pending", st.raw["PENDING"], ":columns", k.columns)
	s.unguarded(r.Replace(`
		DELETE FROM parcel_facts WHERE :two AND outcome = 'Applied';
		UPDATE parcels SET due_at = NULL WHERE :five;
		UPDATE parcels SET state = :shipped, lock_version = 2, due_at = NULL WHERE :six;
		INSERT INTO parcel_history (:columns, version, event, from_status, to_status, at) SELECT :columns, 2, 'ship', 'PENDING', 'SHIPPED', now() FROM parcels WHERE :six`))
	s.finds([]string{
		"parcel " + k.shown(id+2) + ` version 2: fact-missing: "paid" has an identity and moved the row, and no fact says so`,
		"parcel " + k.shown(id+5) + " version 1: deadline-missing: the row has no deadline, so nothing moves it out of PENDING by expire",
		"parcel " + k.shown(id+6) + ` version 2: illegal-edge: "ship" led from PENDING to SHIPPED, which no transition does`,
	}, now.m, now.past)
	s.unguarded(r.Replace(`
		INSERT INTO parcel_facts (event, identity, :columns, fingerprint, outcome, from_status, to_status, version, at)
			SELECT 'paid', 'again' || id, :columns, '', 'Applied', from_status, to_status, version, at FROM parcel_history WHERE :two AND version = 2;
		UPDATE parcels SET due_at = now() WHERE :five;
		UPDATE parcels SET state = :pending, lock_version = 1, due_at = now() WHERE :six;
		DELETE FROM parcel_history WHERE :six AND version = 2`))
}
