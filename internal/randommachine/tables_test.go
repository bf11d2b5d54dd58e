package randommachine_test

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/model"
)

// The readers of each table give what is in a row of it.

func (s *state) readRow(l *ledger) func(map[string]*string) error {
	return func(r map[string]*string) error {
		status := text(r[l.m.Table.Status.Column])
		if l.m.Table.Status.Storage == model.StoredCode {
			for _, state := range l.m.States {
				if fmt.Sprint(state.Code) == text(r[l.m.Table.Status.Column]) {
					status = state.Name
				}
			}
		}
		is, err := l.rowOf(r)
		if err != nil {
			return err
		}
		s.rows = append(s.rows, rowText(is.key, status, number(r[l.m.Table.Version]), is.due, is.runs, is.columns))
		return nil
	}
}

// keyOf is the key of a row of another table, as outbox and audit have it.
func (l *ledger) keyOf(r map[string]*string) string {
	var key []string
	for _, k := range l.m.Table.Keys {
		key = append(key, text(r[k.Name]))
	}
	return l.keyText(l.canonical(key))
}

func (s *state) readHistory(l *ledger) func(map[string]*string) error {
	return func(r map[string]*string) error {
		at, err := moment(text(r["fsm_at"]))
		h := line{
			Table: "history", Key: l.keyOf(r), Version: number(r["fsm_v"]), Event: text(r["fsm_e"]), From: text(r["fsm_from"]), To: text(r["fsm_to"]),
			Actor: text(r["fsm_actor"]), Reason: text(r["fsm_reason"]), At: at,
		}
		if text(r["fsm_forced"]) == "t" {
			h.What = "forced"
		}
		s.lines = append(s.lines, h)
		return err
	}
}

func (s *state) readFacts(l *ledger) func(map[string]*string) error {
	return func(r map[string]*string) error {
		at, err := moment(text(r["fsm_at"]))
		s.lines = append(s.lines, line{
			Table: "facts", Key: l.keyOf(r), Version: number(r["fsm_v"]), Event: text(r["fsm_e"]), From: text(r["fsm_from"]), To: text(r["fsm_to"]),
			Outcome: text(r["fsm_outcome"]), What: fmt.Sprintf("%q %q", text(r["fsm_identity"]), text(r["fsm_fingerprint"])), At: at,
		})
		return err
	}
}

// readOutbox looks at the payload as well: what it repeats must be what the columns say.
func (s *state) readOutbox() func(map[string]*string) error {
	return func(r map[string]*string) error {
		at, err := moment(text(r["at"]))
		o := line{
			Table: "outbox", Key: text(r["key"]), Version: number(r["version"]), Event: text(r["event"]), What: text(r["topic"]),
			From: text(r["pfrom"]), To: text(r["pto"]), Payload: fmt.Sprintf("%q", text(r["pidentity"])), At: at,
		}
		if text(r["pkey"]) != o.Key || number(r["pversion"]) != o.Version || text(r["pevent"]) != o.Event || text(r["pmachine"]) != text(r["machine"]) {
			o.Payload = text(r["payload"])
		}
		s.lines = append(s.lines, o)
		return err
	}
}

func (s *state) readAudit() func(map[string]*string) error {
	return func(r map[string]*string) error {
		at, err := moment(text(r["at"]))
		s.lines = append(s.lines, line{
			Table: "audit", Key: text(r["key"]), Version: number(r["version"]), Event: text(r["action"]), From: text(r["from_status"]), To: text(r["to_status"]),
			Actor: text(r["actor"]), Reason: text(r["reason"]), At: at,
		})
		return err
	}
}
