package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/model"
)

// lockClass is fsm/lock.Class, the first number of its advisory locks.
const lockClass = 0x7061776c

// Lags reads what waits, each part by its indexes in a transaction of its own. The
// error is for a database that could not be asked at all.
func (d *Database) Lags(ctx context.Context, machines []*model.Machine) (Lags, error) {
	var lags Lags
	err := d.read(ctx, d.quick, probing, func(ctx context.Context, tx pgx.Tx) error { return lags.server(ctx, tx) })
	if err != nil {
		return lags, err
	}
	for _, part := range []struct {
		name string
		read func(context.Context, pgx.Tx) error
	}{
		{"outbox", lags.outbox}, {"inbox", lags.inbox}, {"command", lags.commands}, {"attempt", lags.attempts}, {"consume", lags.letters}, {"token", lags.tokens},
	} {
		err := d.read(ctx, d.quick, probing, func(ctx context.Context, tx pgx.Tx) error { return part.read(ctx, tx) })
		switch {
		case errors.Is(err, ErrAway), errors.Is(err, context.Canceled):
			return lags, err
		case err != nil:
			lags.Failed = append(lags.Failed, Failed{part.name, err})
		}
	}
	for _, m := range machines {
		if m.Table == nil || !m.Deadlines() {
			continue
		}
		due, err := d.Deadlines(ctx, m)
		switch {
		case errors.Is(err, ErrAway), errors.Is(err, context.Canceled):
			return lags, err
		case err != nil:
			lags.Failed = append(lags.Failed, Failed{m.Name, err})
			continue
		}
		lags.Policies = append(lags.Policies, due.Policies...)
		of := DueOf{Machine: m.Name, Overdue: due.Overdue}
		if len(due.Late) > 0 {
			of.First = -due.Late[0].In
		}
		lags.Due = append(lags.Due, of)
	}
	return lags, nil
}

func (l *Lags) server(ctx context.Context, tx pgx.Tx) error {
	var behind *float64
	err := tx.QueryRow(ctx, `SELECT split_part(current_setting('server_version'), ' ', 1), pg_is_in_recovery(),
  CASE WHEN pg_is_in_recovery() AND pg_last_wal_receive_lsn() IS DISTINCT FROM pg_last_wal_replay_lsn() THEN extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8
       WHEN pg_is_in_recovery() THEN 0 END`).Scan(&l.Server.Version, &l.Server.Replica, &behind)
	if err != nil {
		return err
	}
	l.Server.Behind = maybe(behind)
	rows, err := tx.Query(ctx, `SELECT COALESCE(r.application_name, ''), COALESCE(r.state, ''), COALESCE(r.sync_state, ''), extract(epoch FROM r.replay_lag)::float8
FROM pg_stat_replication AS r ORDER BY 1, r.pid LIMIT 20`)
	if err != nil {
		return err
	}
	l.Server.Replicas, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Replica, err error) {
		var lag *float64
		err = row.Scan(&r.Name, &r.State, &r.Sync, &lag)
		r.Lag = maybe(lag)
		return r, err
	})
	if err != nil {
		return err
	}
	return tx.QueryRow(ctx, `SELECT count(*) FILTER (WHERE l.granted), count(*) FILTER (WHERE NOT l.granted) FROM pg_locks AS l
WHERE l.locktype = 'advisory' AND l.classid = $1 AND l.objsubid = 2 AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())`, lockClass).
		Scan(&l.Locks.Held, &l.Locks.Waiting)
}

// bounded counts the rows of a query without a list of columns, up to Most.
func bounded(from string) string {
	return fmt.Sprintf("(SELECT count(*) FROM (SELECT %s LIMIT %d) AS few)", from, Most)
}

func (l *Lags) outbox(ctx context.Context, tx pgx.Tx) error {
	found, err := lookUp(ctx, tx, "fsm_outbox", "fsm_outbox_holds", "fsm_outbox_aside", "fsm_outbox_sent")
	if err != nil {
		return err
	}
	l.Policies = append(l.Policies, found.policed("fsm_outbox", "fsm_outbox_holds", "fsm_outbox_aside", "fsm_outbox_sent")...)
	if table, err := found.readable("fsm_outbox", "id", "topic", "at"); table == nil || err != nil {
		return err
	}
	var o Outbox
	var oldest float64
	err = tx.QueryRow(ctx, "SELECT "+bounded("o.id FROM fsm_outbox AS o ORDER BY o.id")+`,
  COALESCE((SELECT extract(epoch FROM clock_timestamp() - f.at)::float8 FROM (SELECT o.id, o.at FROM fsm_outbox AS o ORDER BY o.id LIMIT $1) AS f WHERE isfinite(f.at) ORDER BY f.id LIMIT 1), 0)`, Most).Scan(&o.Waiting, &oldest)
	if err != nil {
		return err
	}
	o.Oldest = max(0, seconds(oldest))
	if o.Topics, err = all[TopicCount](ctx, tx, fmt.Sprintf(`SELECT f.topic, count(*) FROM (SELECT o.topic FROM fsm_outbox AS o ORDER BY o.id LIMIT %d) AS f GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`, Most)); err != nil {
		return err
	}
	l.Outbox = &o
	if table, err := found.readable("fsm_outbox_holds", "machine", "key", "tries", "error", "since", "next_at"); table == nil || err != nil {
		return err
	}
	if _, err := found.needed("fsm_outbox_aside", "id"); err != nil {
		return err
	}
	if _, err := found.needed("fsm_outbox_sent", "sent_at"); err != nil {
		return err
	}
	o.Relay = true
	var last *float64
	err = tx.QueryRow(ctx, `SELECT held.held, held.parked, `+bounded("FROM fsm_outbox_aside AS a ORDER BY a.id")+`,
  `+bounded("FROM fsm_outbox_sent AS s WHERE "+recent("s.sent_at")+" ORDER BY s.sent_at DESC")+`,
  (SELECT extract(epoch FROM clock_timestamp() - s.sent_at)::float8 FROM fsm_outbox_sent AS s WHERE s.sent_at > '-infinity' AND s.sent_at < 'infinity' ORDER BY s.sent_at DESC LIMIT 1)
FROM (SELECT count(*) AS held, count(*) FILTER (WHERE h.next_at IS NULL) AS parked FROM (SELECT h.next_at FROM fsm_outbox_holds AS h ORDER BY h.id LIMIT $1) AS h) AS held`, Most).
		Scan(&o.Held, &o.Parked, &o.Aside, &o.Sent, &last)
	if err != nil {
		return err
	}
	o.SentLast = maybe(last)
	o.Holds, err = all[Held](ctx, tx, `SELECT h.machine, h.key, h.tries, left(h.error, 300), h.since, CASE WHEN isfinite(h.next_at) THEN h.next_at END
FROM (SELECT h.machine, h.key, h.tries, h.error, h.since, h.next_at FROM fsm_outbox_holds AS h ORDER BY h.id LIMIT $1) AS h ORDER BY h.next_at NULLS FIRST, h.since LIMIT 20`, Most)
	return err
}

func (l *Lags) inbox(ctx context.Context, tx pgx.Tx) error {
	found, err := lookUp(ctx, tx, "fsm_inbox", "fsm_deliveries", "fsm_refused_deliveries")
	if err != nil {
		return err
	}
	l.Policies = append(l.Policies, found.policed("fsm_inbox", "fsm_deliveries", "fsm_refused_deliveries")...)
	if table, err := found.readable("fsm_inbox", append(inboxColumns, "due_at", "received_at")...); table == nil || err != nil {
		return err
	}
	if _, err := found.needed("fsm_deliveries", deliveryColumns...); err != nil {
		return err
	}
	if _, err := found.needed("fsm_refused_deliveries", "provider", "reason", "day", "count", "last_at"); err != nil {
		return err
	}
	var i Inbox
	var late float64
	err = tx.QueryRow(ctx, "SELECT "+bounded("FROM fsm_inbox AS i WHERE i.due_at IS NOT NULL ORDER BY i.due_at")+", "+bounded("FROM fsm_inbox AS i WHERE i.state = 'dead' ORDER BY i.id")+", "+
		bounded("FROM fsm_deliveries AS d WHERE d.verdicts && '{unreadable,conflict}' ORDER BY d.id")+`,
  COALESCE((SELECT extract(epoch FROM clock_timestamp() - min(i.due_at)) FROM fsm_inbox AS i WHERE i.due_at > '-infinity' AND i.due_at < 'infinity'), 0)::float8`).Scan(&i.Waiting, &i.Dead, &i.Odd, &late)
	if err != nil {
		return err
	}
	i.Late = seconds(late)
	i.Refused, err = all[Refused](ctx, tx, `SELECT r.provider, r.reason, sum(r.count)::bigint, max(r.last_at) FROM fsm_refused_deliveries AS r
WHERE r.provider = ANY (ARRAY`+loose("fsm_refused_deliveries", "provider", maxProviders)+`) AND r.day > current_date - 7 GROUP BY 1, 2 ORDER BY 4 DESC LIMIT 20`)
	if err != nil {
		return err
	}
	const columns = "w.id, w.provider, w.event_id, w.type, w.object, w.state, w.outcome, w.reason, w.attempts, CASE WHEN isfinite(w.due_at) THEN w.due_at END, w.received_at"
	i.Events, err = all[Waiting](ctx, tx, `(SELECT `+columns+` FROM fsm_inbox AS w WHERE w.state = 'dead' ORDER BY w.id DESC LIMIT 10)
UNION ALL (SELECT `+columns+` FROM fsm_inbox AS w WHERE w.due_at IS NOT NULL ORDER BY w.due_at LIMIT 10)`)
	l.Inbox = &i
	return err
}

// newest is how many records of a command are counted.
const newest = 1000

func (l *Lags) commands(ctx context.Context, tx pgx.Tx) error {
	found, err := lookUp(ctx, tx, "fsm_command")
	if err != nil {
		return err
	}
	l.Policies = append(l.Policies, found.policed("fsm_command")...)
	if table, err := found.readable("fsm_command", "command", "created_at", "id", "done_at", "status", "lease_until"); table == nil || err != nil {
		return err
	}
	kinds, err := all[CommandKind](ctx, tx, fmt.Sprintf(`SELECT k.v, c.* FROM %s AS k(v) CROSS JOIN LATERAL (
  SELECT count(*), count(f.done_at), count(*) FILTER (WHERE f.done_at IS NULL AND f.lease_until >= clock_timestamp()), count(*) FILTER (WHERE f.done_at IS NULL AND f.lease_until < clock_timestamp()), count(*) FILTER (WHERE f.status >= 400)
  FROM (SELECT c.done_at, c.lease_until, c.status FROM fsm_command AS c WHERE c.command = k.v ORDER BY c.created_at DESC, c.id DESC LIMIT %d) AS f) AS c ORDER BY 1`,
		loose("fsm_command", "command", maxProviders), newest))
	l.Commands = &Commands{kinds}
	return err
}

func (l *Lags) attempts(ctx context.Context, tx pgx.Tx) error {
	found, err := lookUp(ctx, tx, "fsm_attempts", "fsm_attempt_keys")
	if err != nil {
		return err
	}
	l.Policies = append(l.Policies, found.policed("fsm_attempts", "fsm_attempt_keys")...)
	if table, err := found.readable("fsm_attempts", "kind", "due", "id", "stuck_at"); table == nil || err != nil {
		return err
	}
	if _, err := found.needed("fsm_attempt_keys", "kind"); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `SELECT k.v, `+bounded("FROM fsm_attempts AS a WHERE a.kind = k.v AND a.due IS NOT NULL ORDER BY a.due")+`,
  `+bounded("FROM fsm_attempts AS a WHERE a.kind = k.v AND a.due < statement_timestamp() ORDER BY a.due")+`,
  COALESCE((SELECT extract(epoch FROM clock_timestamp() - a.due) FROM fsm_attempts AS a WHERE a.kind = k.v AND a.due IS NOT NULL AND isfinite(a.due) ORDER BY a.due LIMIT 1), 0)::float8,
  `+bounded("FROM fsm_attempts AS a WHERE a.kind = k.v AND a.stuck_at IS NOT NULL ORDER BY a.stuck_at")+`
FROM `+loose("fsm_attempt_keys", "kind", maxProviders)+` AS k(v) ORDER BY 1`)
	if err != nil {
		return err
	}
	kinds, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k AttemptKind, err error) {
		var late float64
		err = row.Scan(&k.Kind, &k.Due, &k.Overdue, &late, &k.Stuck)
		k.Late = max(0, seconds(late))
		return k, err
	})
	l.Attempts = &Attempts{kinds}
	return err
}

func (l *Lags) letters(ctx context.Context, tx pgx.Tx) error {
	found, err := lookUp(ctx, tx, "fsm_dead_letters")
	if err != nil {
		return err
	}
	l.Policies = append(l.Policies, found.policed("fsm_dead_letters")...)
	if table, err := found.readable("fsm_dead_letters", "consumer", "id", "settled", "at"); table == nil || err != nil {
		return err
	}
	// fsm_dead_letters_open_idx; each consumer is counted by itself, so that one with very
	// many does not hide the others.
	consumers, err := all[Consumer](ctx, tx, fmt.Sprintf(`SELECT k.v, c.n, c.since FROM %s AS k(v) CROSS JOIN LATERAL (
  SELECT count(*) AS n, min(f.at) FILTER (WHERE isfinite(f.at)) AS since FROM (SELECT d.at FROM fsm_dead_letters AS d WHERE d.consumer = k.v AND d.settled = '' ORDER BY d.id LIMIT %d) AS f) AS c ORDER BY 1`,
		looseWhere("fsm_dead_letters", "consumer", "x.settled = ''", maxProviders), Most))
	l.Letters = &Letters{consumers}
	return err
}

func (l *Lags) tokens(ctx context.Context, tx pgx.Tx) error {
	found, err := lookUp(ctx, tx, "fsm_token")
	if err != nil {
		return err
	}
	l.Policies = append(l.Policies, found.policed("fsm_token")...)
	if table, err := found.readable("fsm_token", "sweep_at"); table == nil || err != nil {
		return err
	}
	n, err := pick[int64](ctx, tx, "SELECT "+bounded("FROM fsm_token AS t WHERE t.sweep_at < now() ORDER BY t.sweep_at"))
	l.Tokens = &Tokens{n}
	return err
}
