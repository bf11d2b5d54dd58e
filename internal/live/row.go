package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
)

// Life is what the database has of one row.
type Life struct {
	Key []string
	// KeyText is the key as the outbox has it.
	KeyText string
	// There says that there is a row now; a history may be left without one.
	There bool
	State string
	// Version, Due and Runs are the row's own columns; Due is nil where none is set.
	Version int64
	Due     *time.Time
	Runs    int64
	Values  []Value
	// Now is the database's time, by which durations are told.
	Now time.Time
	// Entries are in the order of versions. Earlier says that older ones are left out.
	Entries []Entry
	Earlier bool
	Facts   []FactOf
	// Deliveries speak of the row, the oldest first; Inbox says that there is an inbox.
	Inbox      bool
	Deliveries []Delivery
	// Messages are what transitions wrote into the outbox, as far as it is known;
	// see Messages. Outbox says that it can be asked by the row.
	Outbox   bool
	Messages []Message
	Hold     *Hold
	Attempts []Attempt
	// Policies are the tables where row-level security decides which rows the role sees.
	Policies []string
	// Unread are tables beside the machine's that the role may not read.
	Unread []error
}

// Value is a declared column of the row, nil for NULL, cut to maxValue characters.
type Value struct {
	Column string
	Text   *string
}

// Entry is one entry of the history.
type Entry struct {
	Version  int64
	Event    string
	From, To string // From is empty for a creation
	Actor    string
	Reason   string
	Request  string
	Forced   bool
	At       time.Time
	// Stayed is how long the row then stood so: until the next entry, or now.
	Stayed time.Duration
}

// FactOf is a fact of a row.
type FactOf struct {
	Event, Identity, Fingerprint, Outcome, From, To string
	Version                                         int64
	At                                              time.Time
}

const (
	// maxEntries bound the history, the facts and the deliveries of one row.
	maxEntries = 500
	// maxValue and maxNote are the characters that are read of a column, and of what was
	// said of an entry: there may be a megabyte of them.
	maxValue = 200
	maxNote  = 500
)

// Life reads one row and all that speaks of it, each by an index. A key of which the
// database has nothing is a Life that is not There, without entries. The key must be
// one: see IsKey. The errors are *Error and ctx's.
func (d *Database) Life(ctx context.Context, m *model.Machine, key []string) (Life, error) {
	l := lifecycle{m}
	life := Life{Key: key, KeyText: KeyShown(key)}
	if !IsKey(m, key) {
		return life, nil
	}
	err := d.read(ctx, d.quick, probing, func(ctx context.Context, tx pgx.Tx) error {
		found, err := lookUp(ctx, tx, append([]string{l.Table.Name, l.history(), l.facts()}, besides...)...)
		if err != nil {
			return err
		}
		life.Policies = found.policed(append([]string{l.Table.Name, l.history(), l.facts()}, besides...)...)
		for _, read := range []func(context.Context, pgx.Tx, catalog, *Life) error{l.rowOf, l.entriesOf, l.factsOfRow} {
			if err := read(ctx, tx, found, &life); err != nil {
				return err
			}
		}
		for _, read := range []func(context.Context, pgx.Tx, catalog, *Life) error{l.deliveriesOf, l.messagesOf, l.attemptsOf} {
			err := read(ctx, tx, found, &life)
			var told *Error
			if errors.As(err, &told) { // the catalog said so, and nothing was asked
				life.Unread = append(life.Unread, told)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return life, err
}

// besides are the tables that may speak of a row.
var besides = []string{"fsm_deliveries", "fsm_inbox", "fsm_outbox", "fsm_outbox_holds", "fsm_outbox_sent", "fsm_outbox_aside", "fsm_attempt_keys", "fsm_attempts"}

func (l lifecycle) rowOf(ctx context.Context, tx pgx.Tx, found catalog, life *Life) error {
	t := l.Table
	columns := append(l.keys(), t.Status.Column, t.Version)
	due, runs := "NULL::timestamptz", "0::bigint"
	if l.Deadlines() {
		columns, due = append(columns, t.Deadline), "t."+ident(t.Deadline)
	}
	if l.CountsRuns() {
		columns, runs = append(columns, t.Runs), "t."+ident(t.Runs)+"::bigint"
	}
	table, err := found.needed(t.Name, columns...)
	if err != nil {
		return err
	}
	var held []Value
	texts := make([]string, 0, len(t.Columns))
	for _, c := range t.Columns { // those that were granted
		if slices.Contains(table.readable, c.Name) {
			held = append(held, Value{Column: c.Name})
			texts = append(texts, fmt.Sprintf("left(t.%s::text, %d)", ident(c.Name), maxValue+1))
		}
	}
	var status *string
	var version *int64
	var values []*string
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT %s, %s, t.%s::bigint, CASE WHEN isfinite(%s) THEN %[4]s END, %s, ARRAY[%s]::text[] FROM %s AS t WHERE %s",
		l.keyText("t"), l.statusText("t"), ident(t.Version), due, runs, strings.Join(texts, ", "), ident(t.Name), l.keyIs("t", "$1")), life.Key)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, []any{&life.KeyText, &status, &version, &life.Due, &life.Runs, &values}, func() error {
		life.There = true
		return nil
	})
	if err != nil {
		return err
	}
	if life.Now, err = pick[time.Time](ctx, tx, "SELECT now()"); err != nil || !life.There {
		return err
	}
	if status != nil {
		life.State = l.name(*status, true)
	}
	if version != nil {
		life.Version = *version
	}
	for i := range held {
		if values[i] != nil {
			text := cut(*values[i], maxValue)
			held[i].Text = &text
		}
	}
	life.Values = held
	return nil
}

func (l lifecycle) entriesOf(ctx context.Context, tx pgx.Tx, found catalog, life *Life) error {
	if _, err := found.needed(l.history(), append(l.keys(), "version", "event", "from_status", "to_status", "actor", "reason", "request_id", "forced", "at")...); err != nil {
		return err
	}
	order := "h.version DESC" // as the key has it
	if l.Table.History != nil {
		order += ", h.at DESC"
	}
	rows, err := tx.Query(ctx, fmt.Sprintf(`SELECT h.version::bigint, h.event::text, COALESCE(%[7]s, ''), %[8]s, left(h.actor, %[5]d), left(h.reason, %[5]d), left(h.request_id, %[5]d), h.forced, h.at, %[6]s
FROM %[1]s AS h WHERE %[2]s AND isfinite(h.at) ORDER BY %[3]s LIMIT %[4]d`, ident(l.history()), l.keyIs("h", "$1"), order, maxEntries+1, maxNote+1, l.keyText("h"), begun("h", "from_status"), begun("h", "to_status")), life.Key)
	if err != nil {
		return err
	}
	entries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Entry, err error) {
		err = row.Scan(&e.Version, &e.Event, &e.From, &e.To, &e.Actor, &e.Reason, &e.Request, &e.Forced, &e.At, &life.KeyText) // of a row that is gone, too
		e.Actor, e.Reason, e.Request = cut(e.Actor, maxNote), cut(e.Reason, maxNote), cut(e.Request, maxNote)
		return e, err
	})
	if err != nil {
		return err
	}
	if life.Earlier = len(entries) > maxEntries; life.Earlier {
		entries = entries[:maxEntries]
	}
	slices.Reverse(entries)
	for i := range entries {
		e := &entries[i]
		until := life.Now
		if i+1 < len(entries) {
			until = entries[i+1].At
		}
		e.Stayed = max(0, until.Sub(e.At))
		if e.From != "" {
			e.From = l.name(e.From, false)
		}
		e.To = l.name(e.To, false)
	}
	life.Entries = entries
	return nil
}

func (l lifecycle) factsOfRow(ctx context.Context, tx pgx.Tx, found catalog, life *Life) error {
	facts, err := found.readable(l.facts(), append(l.keys(), "event", "identity", "fingerprint", "outcome", "from_status", "to_status", "version", "at")...)
	if facts == nil || err != nil || !facts.lead(l.Table.Keys[0].Name) {
		return err
	}
	life.Facts, err = all[FactOf](ctx, tx, fmt.Sprintf(`SELECT f.event::text, f.identity, left(f.fingerprint, %d), f.outcome::text, %s, %s, f.version::bigint, f.at
FROM %s AS f WHERE %s AND isfinite(f.at) ORDER BY f.at, f.event, f.identity LIMIT %d`, maxNote+1, begun("f", "from_status"), begun("f", "to_status"), ident(l.facts()), l.keyIs("f", "$1"), maxEntries), life.Key)
	for i := range life.Facts {
		f := &life.Facts[i]
		f.Fingerprint = cut(f.Fingerprint, maxNote)
		f.From, f.To = l.name(f.From, false), l.name(f.To, false)
	}
	return err
}

// cut is a text of which at most characters are shown, with a sign where there are more.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// words are what others call the row by: its key, its facts' identities, and what it
// keeps in columns that are called as a parameter of an identity.
func (l lifecycle) words(life *Life) []string {
	words := []string{life.KeyText}
	add := func(w string) {
		if w != "" && len(words) < maxWords && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	for _, f := range life.Facts {
		for _, w := range spellings(f.Identity) {
			add(w)
		}
	}
	for _, v := range life.Values {
		if v.Text != nil && l.identifies(v.Column) {
			for _, w := range spellings(*v.Text) {
				add(w)
			}
		}
	}
	return words
}

// maxWords and maxProviders bound what an inbox is asked by.
const (
	maxWords     = 64
	maxProviders = 32
)

// spellings are an identity, and its number behind the provider, as inbox.Event.Identity
// joins them.
func spellings(identity string) []string {
	_, number, ok := strings.Cut(identity, ":")
	if !ok {
		return []string{identity}
	}
	return []string{identity, number}
}

// identifies reports whether an event of the machine has an identity of this name.
func (l lifecycle) identifies(column string) bool {
	return slices.ContainsFunc(l.Events, func(e *model.Event) bool {
		return slices.ContainsFunc(e.Identity, func(p *model.Param) bool { return p.Name == column })
	})
}
