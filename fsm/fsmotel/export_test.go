package fsmotel

// Question is one of those of a backlog, with the indexes that serve it.
type Question struct {
	SQL     string
	Indexes []string
}

// Questions are those of a backlog with the deadlines of orders.
func Questions(d Deadline) []Question {
	return []Question{
		{outboxSQL, []string{"fsm_outbox_pkey"}},
		{holdsSQL, []string{"fsm_outbox_holds_pkey"}},
		{inboxSQL, []string{"fsm_inbox_due_idx", "fsm_inbox_state_idx"}},
		{d.sql(), []string{"orders_deadline_idx"}},
	}
}
