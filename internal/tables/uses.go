package tables

// Use is what the package of a part does with one of its relations, as the
// privileges of a GRANT. What is not here it does not do.
type Use struct {
	Relation string
	// Sequence says that the relation is one, and no table.
	Sequence bool
	// Verbs are the privileges, as GRANT has them.
	Verbs string
	// Shown are the columns that somebody who only looks may see; empty for all. Hidden
	// are what was asked, told and replied, which may hold what customers told in
	// confidence, and the hashes of tokens.
	Shown []string
}

const (
	appended = "SELECT, INSERT"
	worked   = "SELECT, INSERT, UPDATE, DELETE"
)

// audit is used by the parts in which people decide something.
var audit = Use{Relation: "fsm_audit", Verbs: appended}

// CoreUses are the relations of the core migration. Machines write to them by their
// own statements.
func CoreUses() []Use {
	return []Use{{Relation: "fsm_outbox"}, {Relation: "fsm_audit"}}
}

// Uses lists what the package of a part needs; none for a name that is no part.
func Uses(part string) []Use {
	switch part {
	case "attempt":
		return []Use{
			{Relation: "fsm_attempt_keys", Verbs: appended},
			{Relation: "fsm_attempts", Verbs: worked, Shown: []string{"id", "kind", "business_key", "state", "ref", "code", "last_error", "sends", "rounds", "owner", "fence", "leased_until", "due", "created_at", "first_sent_at", "answered_at", "completed_at", "stuck_at"}},
			{Relation: "fsm_attempt_steps", Verbs: appended, Shown: []string{"attempt_id", "position", "name", "fence", "at"}},
			{Relation: "fsm_attempts_archive", Verbs: appended, Shown: []string{"id", "kind", "business_key", "state", "ref", "code", "last_error", "sends", "rounds", "fence", "created_at", "first_sent_at", "answered_at", "completed_at", "archived_at"}},
			audit,
		}
	case "command":
		return []Use{
			{Relation: "fsm_command", Verbs: worked, Shown: []string{"id", "scope", "command", "key", "algorithm", "owner", "fence", "lease_until", "created_at", "claimed_at", "done_at", "status"}},
			{Relation: "fsm_command_archive", Verbs: appended, Shown: []string{"id", "scope", "command", "key", "algorithm", "fence", "created_at", "claimed_at", "done_at", "status", "archived_at"}},
			{Relation: "fsm_command_fence", Sequence: true, Verbs: "USAGE"},
		}
	case "consume":
		return []Use{
			{Relation: "fsm_consumed", Verbs: worked},
			{Relation: "fsm_dead_letters", Verbs: worked, Shown: []string{"id", "consumer", "key", "topic", "message_id", "tries", "error", "at", "settled", "settled_by", "settled_why", "settled_at"}},
		}
	case "inbox":
		return []Use{
			{Relation: "fsm_deliveries", Verbs: worked, Shown: []string{"id", "provider", "message_id", "signed_at", "received_at", "digest", "events", "verdicts", "recorded_at"}},
			{Relation: "fsm_inbox", Verbs: worked},
			{Relation: "fsm_inbox_archive", Verbs: appended},
			{Relation: "fsm_refused_deliveries", Verbs: worked},
			audit,
		}
	case "lock":
		return []Use{{Relation: "fsm_fence", Sequence: true, Verbs: "USAGE"}}
	case "relay":
		return []Use{
			{Relation: "fsm_outbox", Verbs: "SELECT, UPDATE (hold), DELETE"},
			{Relation: "fsm_outbox_holds", Verbs: worked},
			{Relation: "fsm_outbox_sent", Verbs: worked},
			{Relation: "fsm_outbox_aside", Verbs: "SELECT, INSERT, UPDATE"},
		}
	case "token":
		return []Use{{Relation: "fsm_token", Verbs: worked, Shown: []string{"kind", "principal", "purpose", "issued_at", "expires_at", "keep", "used_at", "sweep_at"}}}
	}
	return nil
}
