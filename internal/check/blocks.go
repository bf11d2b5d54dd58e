package check

import "github.com/pawl-go/pawl/internal/model"

// blocks is the language of definitions. The checker takes the keys that it
// allows from here, and so do the JSON Schema and the reference page.
var blocks = []Block{
	{"definition", "a definition", []Key{
		{Name: "machine", Required: true, Shape: ShapeName, Names: NamesBase, Doc: "The machine's name: a-z, 0-9 and _. It names the Go package, the history and the facts table.", Example: "order"},
		{Name: "describe", Shape: ShapeText, Doc: "One sentence for people.", Example: "One customer order, from checkout to delivery or refund."},
		{Name: "owner", Shape: ShapeText, Doc: "Who answers for the machine: a team or a person.", Example: "payments"},
		{Name: "tags", Shape: ShapeNames, Names: NamesPlain, Doc: "Words by which tools and testers choose.", Example: "[checkout]"},
		{Name: "table", Shape: ShapeBlock, Of: "table", Doc: "The guarded table. Leave it out for a machine that has no SQL."},
		{Name: "create", Shape: ShapeBlock, Of: "create", Doc: "What the creation of a row does."},
		{Name: "states", Required: true, Shape: ShapeNamed, Of: "state", Doc: "The states, in the order in which people read them."},
		{Name: "guards", Shape: ShapeNamed, Of: "guard", Names: NamesPlain, Doc: "Conditions that transitions name."},
		{Name: "events", Shape: ShapeNamed, Of: "event", Doc: "What can happen to a row."},
		{Name: "transitions", Shape: ShapeList, Of: "transition", Doc: "What moves a row, tried in the order written."},
		{Name: "maps", Shape: ShapeNamed, Of: "map", Names: NamesBase, Doc: "What the status words of outside systems mean."},
		waiveKey,
	}},
	{"table", "\"table\"", []Key{
		{Name: "name", Required: true, Shape: ShapeName, Names: NamesBase, Doc: "The table.", Example: "orders"},
		{Name: "key", Required: true, Shape: ShapeBlockOrList, Of: "key", Doc: "The primary key, given by whoever creates a row; a list for one of several columns.", Example: "{column: order_id, type: uuid}"},
		{Name: "columns", Shape: ShapeNamed, Of: "column", Names: NamesPlain, Short: "type", Doc: "The columns that guards read, that transitions set and that a creator gives."},
		{Name: "existing", Shape: ShapeFlag, Doc: "The table, its key and the declared columns were there before: migrations add what is missing without holding the table up.", Example: "true"},
		{Name: "status", Shape: ShapeNameOrBlock, Of: "status", Names: NamesPlain, Doc: "The column that keeps the state, status when it is left out.", Example: "{column: state, type: smallint}"},
		{Name: "version", Shape: ShapeNameOrBlock, Of: "version", Names: NamesPlain, Doc: "The column that counts the moves of a row, version when it is left out.", Example: "lock_version"},
		{Name: "deadline", Shape: ShapeNameOrBlock, Of: "due", Names: NamesPlain, Doc: "The column of the due time, deadline_at when it is left out.", Example: "{at: due_at, runs: due_runs}"},
		{Name: "history", Shape: ShapeBlock, Of: "history", Doc: "How the history is cut into partitions by time; one whole table when it is left out.", Example: "{partition: month, keep: 400d}"},
	}},
	{"key", "\"key\"", []Key{
		{Name: "column", Required: true, Shape: ShapeName, Names: NamesPlain, Doc: "The column.", Example: "order_id"},
		{Name: "type", Required: true, Shape: ShapeType, Doc: "Its type.", Example: "uuid"},
	}},
	{"status", "\"status\"", []Key{
		{Name: "column", Shape: ShapeName, Names: NamesPlain, Doc: "The column, status when it is left out.", Example: "state"},
		{Name: "type", Shape: ShapeType, Words: statusTypes, Doc: "text (the default), or an integer type for codes; each state then has a code.", Example: "smallint"},
		{Name: "enum", Shape: ShapeName, Names: NamesPlain, Doc: "The PostgreSQL enum that the column has, instead of a type.", Example: "order_state"},
	}},
	{"version", "\"version\"", []Key{
		{Name: "column", Shape: ShapeName, Names: NamesPlain, Doc: "The column, version when it is left out.", Example: "lock_version"},
		{Name: "type", Shape: ShapeType, Words: versionTypes, Doc: "bigint (the default), or integer for a column that is there already; its calls end at 2147483647.", Example: "integer"},
	}},
	{"due", "\"deadline\"", []Key{
		{Name: "at", Shape: ShapeName, Names: NamesPlain, Doc: "The column of the due time, deadline_at when it is left out.", Example: "due_at"},
		{Name: "runs", Shape: ShapeName, Names: NamesPlain, Doc: "The column that counts a deadline's runs, deadline_runs when it is left out.", Example: "due_runs"},
	}},
	{"history", "\"history\"", []Key{
		{Name: "partition", Required: true, Shape: ShapeWord, Words: model.PartitionUnits(), Doc: "How long a partition is: a day, a week from Monday, or a month, by UTC.", Example: "month"},
		{Name: "keep", Shape: ShapeDuration, Doc: "How long entries stay at least, in days; for ever when it is left out.", Example: "400d"},
	}},
	{"column", "a column", []Key{
		{Name: "type", Required: true, Shape: ShapeType, Doc: "Its type.", Example: "bigint"},
		{Name: "optional", Shape: ShapeFlag, Doc: "It may be NULL.", Example: "true"},
		{Name: "default", Shape: ShapeSQL, Doc: "What a new row has when its creator gives nothing.", Example: "0"},
		{Name: "check", Shape: ShapeSQL, Doc: "A condition on every row.", Example: "total_cents > 0"},
		{Name: "describe", Shape: ShapeText, Doc: "One sentence for people.", Example: "what the customer owes"},
	}},
	{"create", "\"create\"", []Key{
		{Name: "emit", Shape: ShapeNames, Names: NamesPlain, Doc: "Topics of the outbox rows written with the creation.", Example: "[order_created]"},
	}},
	{"state", "a state", []Key{
		{Name: "initial", Shape: ShapeFlag, Doc: "A row is created here; exactly one state has it.", Example: "true"},
		{Name: "final", Shape: ShapeFlag, Doc: "Nothing leaves it.", Example: "true"},
		{Name: "resting", Shape: ShapeFlag, Doc: "A row may stay for good, yet events can still move it.", Example: "true"},
		{Name: "label", Shape: ShapeNamed, Names: NamesLanguage, Doc: "Names for people, by language.", Example: "{zh: 待支付, en: Awaiting payment}"},
		{Name: "describe", Shape: ShapeText, Doc: "One sentence for people.", Example: "Cancelled or timed out; a late payment can still arrive."},
		{Name: "deadline", Shape: ShapeBlock, Of: "deadline", Doc: "The state is left by itself after a time.", Example: "{after: 30m, event: expire}"},
		{Name: "was", Shape: ShapeName, Doc: "The name that the state had before.", Example: "SETTLED"},
		{Name: "retired", Shape: ShapeFlag, Doc: "Rows may leave the state, and none may enter it any more.", Example: "true"},
		{Name: "code", Shape: ShapeCount, Doc: "What stands for the state in a status column of an integer type.", Example: "20"},
		{Name: "owner", Shape: ShapeText, Doc: "Who answers for rows that stand here.", Example: "fulfilment"},
		{Name: "tags", Shape: ShapeNames, Names: NamesPlain, Doc: "Words by which tools and testers choose. money: the row holds a customer's money here.", Example: "[money]"},
		waiveKey,
	}},
	{"deadline", "\"deadline\"", []Key{
		{Name: "after", Required: true, Shape: ShapeDuration, Doc: "The time, as Go writes it, with d for a day; at least 1s.", Example: "30m"},
		{Name: "event", Required: true, Shape: ShapeName, Doc: "The event that then comes; it has no parameters.", Example: "expire"},
		{Name: "max", Shape: ShapeCount, Doc: "How often at most, where the event leads back to the state.", Example: "20"},
	}},
	{"guard", "a guard", []Key{
		{Name: "sql", Required: true, Shape: ShapeSQL, Doc: "A condition on the row's columns and @parameters; NULL is not true.", Example: "total_cents = @paid_cents"},
		{Name: "describe", Shape: ShapeText, Doc: "The condition in words, as refused calls tell it.", Example: "the amount paid is the amount due"},
		waiveKey,
	}},
	{"event", "an event", []Key{
		{Name: "describe", Shape: ShapeText, Doc: "One sentence for people.", Example: "the customer chose how to pay"},
		{Name: "label", Shape: ShapeNamed, Names: NamesLanguage, Doc: "Names for people, by language.", Example: "{zh: 支付}"},
		{Name: "source", Shape: ShapeWord, Words: []string{"callback"}, Doc: "It comes from outside, where duplicates, delays and disorder are normal.", Example: "callback"},
		{Name: "params", Shape: ShapeNamed, Of: "param", Names: NamesPlain, Short: "type", Doc: "What a call gives.", Example: "{payment_no: text, paid_cents: bigint}"},
		{Name: "identity", Shape: ShapeNames, Names: NamesPlain, Doc: "The parameters that make two deliveries the same fact.", Example: "[payment_no]"},
		{Name: "fingerprint", Shape: ShapeNames, Names: NamesPlain, Doc: "The parameters that must then be equal.", Example: "[paid_cents]"},
		{Name: "expect", Shape: ShapeWord, Words: []string{"version"}, Doc: "A call must give the version that it expects.", Example: "version"},
		{Name: "otherwise", Shape: ShapeBlock, Of: "otherwise", Doc: "What is said where no transition is taken."},
		{Name: "owner", Shape: ShapeText, Doc: "Who answers for the event.", Example: "payments"},
		{Name: "tags", Shape: ShapeNames, Names: NamesPlain, Doc: "Words by which tools and testers choose; they count for the event's transitions too. refund, delivery: this is how money leaves rightly.", Example: "[refund]"},
		waiveKey,
	}},
	{"param", "a parameter", []Key{
		{Name: "type", Required: true, Shape: ShapeType, Doc: "Its type.", Example: "bigint"},
		{Name: "optional", Shape: ShapeFlag, Doc: "It may be left out of a call.", Example: "true"},
		{Name: "check", Shape: ShapeSQL, Doc: "A condition on every call.", Example: "'@paid_cents > 0'"},
		{Name: "describe", Shape: ShapeText, Doc: "One sentence for people.", Example: "what the provider took"},
	}},
	{"otherwise", "\"otherwise\"", []Key{
		{Name: "replay", Shape: ShapeNames, Doc: "States in which the event has taken effect before: success, nothing is done. '*' stands for the rest.", Example: "[PAID]"},
		{Name: "ignore", Shape: ShapeNames, Doc: "States in which the event does no harm: success, nothing is done.", Example: "'*'"},
		{Name: "reject", Shape: ShapeNames, Doc: "States in which the event is refused; the default of events that are no callbacks.", Example: "'*'"},
		{Name: "compensate", Shape: ShapeBlock, Of: "compensate", Doc: "States in which the fact is recorded once and nothing moves.", Example: "{states: '*', emit: [refund_due]}"},
	}},
	{"compensate", "\"compensate\"", []Key{
		{Name: "states", Required: true, Shape: ShapeNames, Doc: "The states.", Example: "'*'"},
		{Name: "emit", Shape: ShapeNames, Names: NamesPlain, Doc: "Topics of the outbox rows written with the fact.", Example: "[refund_due]"},
	}},
	{"transition", "a transition", []Key{
		{Name: "event", Required: true, Shape: ShapeName, Doc: "The event.", Example: "pay"},
		{Name: "from", Required: true, Shape: ShapeNames, Doc: "The state or states that it starts from.", Example: "[PENDING, PAYING]"},
		{Name: "to", Required: true, Shape: ShapeName, Doc: "The state that it leads to.", Example: "PAID"},
		{Name: "guard", Shape: ShapeNameOrBlock, Of: "guard", Names: NamesPlain, Doc: "A declared guard, or one written here.", Example: "amount_matches"},
		{Name: "set", Shape: ShapeNamed, Names: NamesPlain, Doc: "Columns and their SQL, seen from the row as it was.", Example: "{paid_cents: '@paid_cents', paid_at: now()}"},
		{Name: "emit", Shape: ShapeNames, Names: NamesPlain, Doc: "Topics of the outbox rows written with the move.", Example: "[order_paid]"},
		{Name: "tags", Shape: ShapeNames, Names: NamesPlain, Doc: "Words by which tools and testers choose.", Example: "[refund]"},
		waiveKey,
	}},
	{"map", "a map", []Key{
		{Required: true, Shape: ShapeNameOrBlock, Of: "kept", Doc: "A word of the outside system, and the event that it means; or why it moves nothing.", Example: "payment_succeeded"},
	}},
	{"kept", "a word that moves nothing", []Key{
		{Name: "keep", Required: true, Shape: ShapeText, Doc: "Why the word moves nothing.", Example: "the customer has not paid yet"},
	}},
}

var versionTypes = []string{"bigint", "integer"}

var statusTypes = []string{"text", "smallint", "integer", "bigint"}

var waiveKey = Key{Name: "waive", Shape: ShapeNamed, Names: NamesRule, Doc: "Codes of rules that are not to be told of this part, each with the reason.", Example: "{FSM077: points are no money}"}
