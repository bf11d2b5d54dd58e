package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
)

// Found is a row that a text leads to.
type Found struct {
	Machine string
	Key     []string
	// State is what the row is in; empty where that was not read.
	State string
	// By is one of the words below, and Name the event, column or provider.
	By, Name string
}

// What a text can be found by.
const (
	ByKey      = "key"
	ByIdentity = "identity"
	ByColumn   = "column"
	ByInbox    = "inbox"
)

// maxFound bounds what one way of looking finds in one machine, and maxText the text
// that is looked for, in bytes; an identity is no longer than 1 KiB.
const (
	maxFound = 20
	maxText  = 1024
)

// Find looks for a text in all machines that have a table: as a key, as the identity of
// a fact of any event, in a declared column that an index begins with, and as the object
// or the id of an event in the inbox, whose rows are then found by the same ways. A way
// without an index is not gone. Rows come once, by the first way that finds them.
//
// A database that is away ends the search. A machine that cannot be read is passed over,
// with an *Error for it; what was found in others comes with those. Where nothing is found
// and policies may have hidden it, there is an *Error of ErrHidden.
func (d *Database) Find(ctx context.Context, machines []*model.Machine, text string) ([]Found, []error) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxText || strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		return nil, nil
	}
	hidden := map[string]bool{}
	words, from, err := d.toldOf(ctx, text, hidden)
	var errs []error
	if err != nil {
		errs = append(errs, err)
	}
	if errors.Is(err, ErrAway) { // the others would wait as long for the same
		return nil, errs
	}
	var found []Found
	for _, m := range machines {
		if m.Table == nil {
			continue
		}
		here, err := d.findIn(ctx, lifecycle{m}, text, words, from, hidden)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.Name, err))
		}
		if errors.Is(err, ErrAway) {
			break
		}
		for _, f := range here {
			if !slices.ContainsFunc(found, func(o Found) bool { return o.Machine == f.Machine && slices.Equal(o.Key, f.Key) }) {
				found = append(found, f)
			}
		}
	}
	if len(found) == 0 && len(hidden) > 0 {
		errs = append(errs, &Error{Kind: ErrHidden, Relation: strings.Join(slices.Sorted(maps.Keys(hidden)), ", ")})
	}
	return found, errs
}

// toldOf are the objects of the inbox's events that the text names, with their
// providers. Tables where policies hide rows are added to hidden.
func (d *Database) toldOf(ctx context.Context, text string, hidden map[string]bool) (words []string, from string, err error) {
	err = d.read(ctx, d.quick, probing, func(ctx context.Context, tx pgx.Tx) error {
		found, err := lookUp(ctx, tx, "fsm_inbox")
		if err != nil {
			return err
		}
		inbox, err := found.readable("fsm_inbox", inboxColumns...)
		if inbox == nil || err != nil {
			return err
		}
		for _, name := range found.policed("fsm_inbox") {
			hidden[name] = true
		}
		rows, err := tx.Query(ctx, "SELECT i.provider, i.object FROM fsm_inbox AS i WHERE i.id = ANY (ARRAY("+eventsTold+")) ORDER BY i.id LIMIT 20", []string{text})
		if err != nil {
			return err
		}
		var provider, object string
		_, err = pgx.ForEachRow(rows, []any{&provider, &object}, func() error {
			if object != "" {
				words, from = append(words, object, provider+":"+object), provider
			}
			return nil
		})
		return err
	})
	slices.Sort(words)
	return slices.Compact(words), from, err
}

func (d *Database) findIn(ctx context.Context, l lifecycle, text string, words []string, provider string, hidden map[string]bool) ([]Found, error) {
	var all []Found
	err := d.read(ctx, d.quick, probing, func(ctx context.Context, tx pgx.Tx) error {
		found, err := lookUp(ctx, tx, l.Table.Name, l.facts())
		if err != nil {
			return err
		}
		table, err := found.needed(l.Table.Name, append(l.keys(), l.Table.Status.Column)...)
		if err != nil {
			return err
		}
		facts, err := found.readable(l.facts(), append(l.keys(), "event", "identity")...)
		if err != nil {
			return err
		}
		for _, name := range found.policed(l.Table.Name, l.facts()) {
			hidden[name] = true
		}
		look := func(by string, texts ...string) error {
			hits, err := l.probe(ctx, tx, table, facts, by == "", texts)
			for _, h := range hits {
				if by != "" {
					h.By, h.Name = by, provider
				}
				all = append(all, h)
			}
			return err
		}
		if err := look("", text); err != nil || len(words) == 0 {
			return err
		}
		return look(ByInbox, words...)
	})
	return all, err
}

// probe looks for texts as keys, as identities, and where columns says so in columns.
func (l lifecycle) probe(ctx context.Context, tx pgx.Tx, table, facts *relation, columns bool, texts []string) ([]Found, error) {
	var all []Found
	status := l.statusText("t")
	collect := func(by, sql string, args ...any) error {
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		hits, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Found, error) {
			f := Found{Machine: l.Name, By: by}
			var status *string
			err := row.Scan(&f.Key, &status, &f.Name)
			if status != nil {
				f.State = l.name(*status, true)
			}
			return f, err
		})
		all = append(all, hits...)
		return err
	}
	for _, text := range texts {
		for _, key := range keysOf(l.Machine, text) {
			if err := collect(ByKey, fmt.Sprintf("SELECT %s, %s, '' FROM %s AS t WHERE %s", l.keyTexts("t"), status, ident(l.Table.Name), l.keyIs("t", "$1")), key); err != nil {
				return all, err
			}
		}
	}
	if facts != nil {
		if events := l.identified(); len(events) > 0 && facts.lead("event") {
			sql := fmt.Sprintf(`SELECT %s, %s, f.event FROM (SELECT f.event, %s FROM %s AS f WHERE f.event = ANY ($1::text[]) AND f.identity = ANY ($2::text[]) LIMIT %d) AS f LEFT JOIN %s AS t ON %s`,
				l.keyTexts("f"), status, l.columns("f", l.keys()), ident(l.facts()), maxFound, ident(l.Table.Name), l.joined("t", "f"))
			if err := collect(ByIdentity, sql, events, l.identities(texts)); err != nil {
				return all, err
			}
		}
	}
	for _, c := range l.Table.Columns {
		if !columns || !c.Type.Identifying() || !table.lead(c.Name) || !slices.Contains(table.readable, c.Name) || !castable(c.Type, texts[0]) {
			continue
		}
		sql := fmt.Sprintf("SELECT %s, %s, %s FROM %s AS t WHERE t.%s = $1::text::%s LIMIT %d", l.keyTexts("t"), status, literal(c.Name), ident(l.Table.Name), ident(c.Name), plainType(c.Type), maxFound)
		if err := collect(ByColumn, sql, texts[0]); err != nil {
			return all, err
		}
	}
	return all, nil
}

// identified are the events that leave facts, by name.
func (l lifecycle) identified() []string {
	var names []string
	for _, e := range l.Events {
		if len(e.Identity) > 0 {
			names = append(names, e.Name)
		}
	}
	return names
}

// identities are the texts as facts may have them: an identity of several parameters
// is a JSON array, which nobody types with PostgreSQL's blanks.
func (l lifecycle) identities(texts []string) []string {
	all := slices.Clone(texts)
	for _, t := range texts {
		if spelt, ok := arrayText(t); ok {
			all = append(all, spelt)
		}
	}
	return all
}
