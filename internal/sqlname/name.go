// Package sqlname says what a database calls that which belongs to a machine,
// and how SQL spells names, constants and keys. It is the one source of those
// names: whoever makes what they stand for, looks for it or warns of its loss
// asks here.
package sqlname

// Tables of the core migration, which all machines share.
const (
	Outbox = "fsm_outbox"
	Audit  = "fsm_audit"
)

// WhoCheck asks an actor and a reason of whatever is in Audit.
const WhoCheck = Audit + "_who_check"

// MaxLength is the length of a name in PostgreSQL, in bytes.
const MaxLength = 63

// Machine names what belongs to one machine. Names of functions and triggers
// begin with the machine's, names of constraints with that of their table.
type Machine struct {
	Name, Table string
	// Existing says that the table was there before the machine. PostgreSQL has
	// then perhaps given the usual name of a constraint to one of the user's.
	Existing bool
	// Partitioned says that the history is in partitions.
	Partitioned bool
}

// History and Facts are the machine's other tables.
func (m Machine) History() string { return m.Name + "_history" }
func (m Machine) Facts() string   { return m.Name + "_facts" }

// PrimaryKey is that of a table which is made for a machine. The key of a table
// that was there before may have any name, and be a unique index.
func PrimaryKey(table string) string { return table + "_pkey" }

// StatusCheck lets a row stand in known states alone.
func (m Machine) StatusCheck() string { return m.check("status") }

// VersionCheck keeps versions above 0.
func (m Machine) VersionCheck() string { return m.check("version") }

// NullCheck is there for a while when a table is taken in.
func (m Machine) NullCheck() string { return m.Table + "_fsm_null_check" }

// ForcedCheck asks an actor and a reason of a forced entry of the history.
func (m Machine) ForcedCheck() string { return m.History() + "_forced_check" }

func (m Machine) check(what string) string {
	if m.Existing {
		return m.Table + "_fsm_" + what + "_check"
	}
	return m.Table + "_" + what + "_check"
}

// ColumnCheck is the check of a declared column.
func (m Machine) ColumnCheck(column string) string {
	if name := m.Table + "_" + column + "_fsm_check"; m.Existing && len(name) <= MaxLength {
		return name
	}
	return m.Table + "_" + column + "_check"
}

// HistoryRest is the partition of a history for what no other one takes,
// HistoryKeep the function that makes partitions and drops them, and HistoryLast
// that which finds a row's newest entry. A partition is
// called by HistoryPart and the first day of its time, as in 20260901.
func (m Machine) HistoryRest() string { return m.History() + "_rest" }
func (m Machine) HistoryKeep() string { return m.History() + "_keep" }
func (m Machine) HistoryLast() string { return m.History() + "_last" }
func (m Machine) HistoryPart() string { return m.History() + "_" }

// DeadlineIndex and FactsKeyIndex are indexes.
func (m Machine) DeadlineIndex() string { return m.Table + "_deadline_idx" }
func (m Machine) FactsKeyIndex() string { return m.Facts() + "_key_idx" }

// Relation is a table or an index, which share one space of names in a schema,
// with the words that say what it is.
type Relation struct {
	Name, What string
	// Table says that it is a table, whose name is a type's name too.
	Table bool
}

// Relations lists all that the machine has or may come to have, the guarded
// table first. The partitions that time brings are not among them.
func (m Machine) Relations() []Relation {
	relations := []Relation{
		{m.Table, "table", true}, {PrimaryKey(m.Table), "primary key", false}, {m.DeadlineIndex(), "deadline index", false},
		{m.History(), "history", true}, {PrimaryKey(m.History()), "history key", false},
		{m.Facts(), "facts", true}, {PrimaryKey(m.Facts()), "facts key", false}, {m.FactsKeyIndex(), "facts index", false},
	}
	if m.Partitioned {
		relations = append(relations, Relation{m.HistoryRest(), "rest of the history", true}, Relation{PrimaryKey(m.HistoryRest()), "key of the history's rest", false})
	}
	return relations
}

// Versions is the table in which goose keeps what has been migrated.
const Versions = "goose_db_version"

// Goose lists the relations of goose, with that which numbers its rows.
func Goose() []string { return []string{Versions, PrimaryKey(Versions), Versions + "_id_seq"} }

// Edge, Birth and Gone are the triggers of updates, inserts and deletions. Edge
// and Birth call Refuse, Gone calls Forget.
func (m Machine) Edge() string   { return m.Name + "_edge" }
func (m Machine) Birth() string  { return m.Name + "_birth" }
func (m Machine) Gone() string   { return m.Name + "_gone" }
func (m Machine) Refuse() string { return m.Name + "_refuse_edge" }
func (m Machine) Forget() string { return m.Name + "_forget" }

// Fill is a trigger and its function for programs generated before.
func (m Machine) Fill() string { return m.Name + "_fill" }

// Adopt is the procedure that takes in the rows of a table that was there
// before.
func (m Machine) Adopt() string { return m.Name + "_adopt" }
