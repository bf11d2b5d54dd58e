package gensql

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
)

// Schema is what a migration makes of a machine: the part of the model that a
// database knows. The newest migration of a machine embeds it, and the next
// one is the difference to it.
type Schema struct {
	Format  int    `json:"format"`
	Machine string `json:"machine"`
	Table   string `json:"table"`
	// Key is the key's first column, Keys all of them where there are several.
	Key     Column   `json:"key"`
	Keys    []Column `json:"keys,omitempty"`
	Columns []Column `json:"columns"`
	// Left holds columns that are no longer declared; they stay in the table,
	// may be NULL, and come back when they are declared again.
	Left    []Column `json:"left,omitempty"`
	States  []string `json:"states"`
	Initial string   `json:"initial"`
	Edges   []Edge   `json:"edges"`
	// EdgesIn is edgesInFunction, or empty for migrations of then.
	EdgesIn string `json:"edges_in,omitempty"`
	// Facts, Deadlines and Runs stay true once they were: what they made stays.
	Facts     bool `json:"facts,omitempty"`
	Deadlines bool `json:"deadlines,omitempty"`
	Runs      bool `json:"runs,omitempty"`
	// Due lists the states that have a deadline.
	Due []Due `json:"due,omitempty"`
	// Identities lists the events whose facts are kept, since their text is
	// what later deliveries are compared with.
	Identities []Identity `json:"identities,omitempty"`
	// Existing says that the table was there before the machine.
	Existing bool `json:"existing,omitempty"`
	// Own holds the names of the machine's own columns that are not the usual
	// ones; nil when all are.
	Own *Own `json:"own,omitempty"`
	// Status is how the status column keeps the state; nil for its name as text.
	Status *Status `json:"status,omitempty"`
	// History is how the history is cut into partitions, nil for one that is whole.
	History *Partitions `json:"history,omitempty"`
	// Renames are those under way. The lists of the schema have the new name
	// alone; the database accepts both.
	Renames []Rename `json:"renames,omitempty"`
	// Pending is what only programs of before need, nil for nothing.
	Pending *Pending `json:"pending,omitempty"`
}

// Own names the machine's own columns.
type Own struct {
	Status   string `json:"status"`
	Version  string `json:"version"`
	Deadline string `json:"deadline"`
	Runs     string `json:"runs"`
	// VersionType is the version's type where it is not bigint.
	VersionType string `json:"version_type,omitempty"`
}

// Status is a status column that is no text: an enum of that type, or an
// integer with the codes of the states in their order.
type Status struct {
	Type  string `json:"type"`
	Codes []int  `json:"codes,omitempty"`
}

// Partitions is how a history is cut: by day, week or month, and how long
// entries stay, as PostgreSQL writes it, empty for ever.
type Partitions struct {
	Unit string `json:"unit"`
	Keep string `json:"keep,omitempty"`
}

// Due is a state's deadline, as PostgreSQL writes the time.
type Due struct {
	State string `json:"state"`
	After string `json:"after"`
}

// Identity is what the facts of an event are made of: parameters with types.
type Identity struct {
	Event       string   `json:"event"`
	Identity    []string `json:"identity"`
	Fingerprint []string `json:"fingerprint,omitempty"`
}

// Column is a column as the database knows it.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Optional bool   `json:"optional,omitempty"`
	Default  string `json:"default,omitempty"`
	Check    string `json:"check,omitempty"`
}

// Edge is a state and the states that may follow it.
type Edge struct {
	From string   `json:"from"`
	To   []string `json:"to"`
}

// schemaFormat is raised when Schema changes its meaning.
const schemaFormat = 1

// SchemaOf returns the schema of a machine that has a table.
func SchemaOf(m *model.Machine) Schema {
	s := Schema{
		Format: schemaFormat, Machine: m.Name, Table: m.Table.Name, Key: columnOf(m.Table.Keys[0]), Columns: []Column{}, Existing: m.Table.Existing,
		Initial: m.Initial().Name, Facts: m.Facts(), Deadlines: m.Deadlines(), Runs: m.CountsRuns(), Edges: []Edge{}, EdgesIn: edgesInFunction,
	}
	if len(m.Table.Keys) > 1 {
		for _, k := range m.Table.Keys {
			s.Keys = append(s.Keys, columnOf(k))
		}
	}
	if own := ownOf(m.Table); own != usual {
		s.Own = &own
	}
	if m.Table.Status.Storage != model.StoredText {
		s.Status = &Status{Type: m.Table.Status.Type}
	}
	if h := m.Table.History; h != nil {
		s.History = &Partitions{Unit: h.Partition}
		if h.Keep > 0 {
			s.History.Keep = daysText(h.Keep)
		}
	}
	for _, c := range m.Table.Columns {
		s.Columns = append(s.Columns, columnOf(c))
	}
	for _, state := range m.States {
		s.States = append(s.States, state.Name)
		if m.Table.Status.Storage == model.StoredCode {
			s.Status.Codes = append(s.Status.Codes, state.Code)
		}
		if state.Deadline != nil {
			s.Due = append(s.Due, Due{state.Name, intervalText(state.Deadline.After)})
		}
	}
	for _, e := range m.Events {
		if len(e.Identity) > 0 {
			s.Identities = append(s.Identities, Identity{e.Name, typed(e.Identity), typed(e.Fingerprint)})
		}
	}
	for _, e := range m.Edges() {
		edge := Edge{From: e.From.Name}
		for _, to := range e.To {
			edge.To = append(edge.To, to.Name)
		}
		s.Edges = append(s.Edges, edge)
	}
	return s
}

// typed lists parameters as "name type".
func typed(params []*model.Param) []string {
	var texts []string
	for _, p := range params {
		texts = append(texts, p.Name+" "+bare(p.Type))
	}
	return texts
}

func columnOf(c *model.Column) Column {
	col := Column{Name: c.Name, Type: c.Type.SQL, Optional: c.Optional}
	if c.Default != nil {
		col.Default = inTable(c.Default)
	}
	if c.Check != nil {
		col.Check = inTable(c.Check)
	}
	return col
}

// modelMark begins the line of a migration that embeds a schema.
const modelMark = "-- fsmgen:model "

// gooseMark spells what goose would take for its own command wherever it stands in a
// comment, so that JSON still says it.
var gooseMark = strings.NewReplacer("+goose", `\u002bgoose`)

// Embed is the schema as the comment line that a migration carries. It is how
// a hand-written migration says what it made.
func (s Schema) Embed() (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return "", fmt.Errorf("embed the model of %s: %w", s.Machine, err)
	}
	return modelMark + gooseMark.Replace(string(bytes.TrimSpace(b.Bytes()))), nil
}

// Embedded returns the schemas that a migration file embeds, none for a file
// that embeds none. The error says that a line is not what fsmgen writes.
func Embedded(migration []byte) ([]Schema, error) {
	var schemas []Schema
	for i, line := range bytes.Split(migration, []byte("\n")) {
		text, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r"), []byte(modelMark))
		if !ok {
			continue
		}
		var s Schema
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("line %d: the embedded model cannot be read: %w", i+1, err)
		}
		if s.Format != schemaFormat {
			return nil, fmt.Errorf("line %d: the embedded model has format %d; this fsmgen knows %d", i+1, s.Format, schemaFormat)
		}
		schemas = append(schemas, s)
	}
	return schemas, nil
}
