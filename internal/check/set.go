package check

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// Set checks machines that are generated together: no two may share a name, a
// table, a Go package, or a relation or Go name that is derived from them. Machines that
// are nil, since they could not be used, are passed over. The problem stands
// at the later machine.
func Set(machines []*model.Machine, problems *diag.List) {
	names, packages := make(map[string]*model.Machine), make(map[string]*model.Machine)
	relations := make(map[string]relation)
	calls := make(map[string]query)
	declared := ownDeclarations()
	for _, m := range machines {
		if m == nil {
			continue
		}
		if other := names[m.Name]; other != nil {
			problems.Addf(m.Pos, CodeSameMachine, diag.Error, "machine %s is defined in %s too; rename or delete one", quote(m.Name), other.Pos)
			continue
		}
		names[m.Name] = m
		if other := packages[m.Package]; other != nil {
			problems.Addf(m.Pos, CodeSamePackage, diag.Error, "machines %s and %s would share the Go package %s; rename one", quote(other.Name), quote(m.Name), m.Package)
		} else {
			packages[m.Package] = m
			takeQueries(m, calls, problems)
		}
		if takeRelations(m, relations, problems) {
			takeTypes(m, declared, problems)
		}
	}
	takeEnums(machines, names, relations, problems)
}

// takeEnums checks that no enum has the name of a table, which is a type too,
// and that no two machines make one enum. Machines over tables that were there
// may share an enum that was there as well: their migrations make only what they
// miss.
func takeEnums(machines []*model.Machine, names map[string]*model.Machine, relations map[string]relation, problems *diag.List) {
	enums := make(map[string]*model.Machine)
	for _, m := range machines {
		if m == nil || m.Table == nil || names[m.Name] != m || m.Table.Status.Storage != model.StoredEnum {
			continue
		}
		enum, pos := m.Table.Status.Type, m.Table.Status.Pos
		if r, ok := relations[enum]; ok && r.table {
			problems.Addf(pos, CodeSameRelation, diag.Error, "enum %s has the name of %s, and a table's name is a type's name too; give the enum another name", quote(enum), r.what)
			continue
		}
		other := enums[enum]
		if other != nil && !(other.Table.Existing && m.Table.Existing) {
			problems.Addf(pos, CodeStatus, diag.Error, "enum %s is that of machine %s already, and each would make it; give one another name, or let both tables be existing: true where the enum is there", quote(enum), quote(other.Name))
			continue
		}
		if other == nil {
			enums[enum] = m
		}
	}
}

// relation is a table or index, in the words of a message.
type relation struct {
	machine *model.Machine
	what    string
	own     bool // the table as named by its definition
	table   bool // a table, whose name is a type's name too
}

// takeRelations reports the relations that are taken already, and whether none
// was.
func takeRelations(m *model.Machine, taken map[string]relation, problems *diag.List) bool {
	if m.Table == nil {
		return true
	}
	table, pos := m.Table.Name, m.Table.Pos
	if other, ok := taken[table]; ok && other.own {
		problems.Addf(pos, CodeSameTable, diag.Error, "table %s is guarded by machine %s already, and two lifecycles cannot share one status; use another table", quote(table), quote(other.machine.Name))
		return false
	}
	called := sqlname.Machine{Name: m.Name, Table: table, Existing: m.Table.Existing, Partitioned: m.Table.History != nil}
	for i, r := range called.Relations() {
		what := "the " + r.What + " of machine " + quote(m.Name)
		if other, ok := taken[r.Name]; ok {
			problems.Addf(pos, CodeSameRelation, diag.Error, "%s would be called %s in the database, as %s is; rename a machine or a table", what, quote(r.Name), other.what)
			return false // what is derived from the name clashes too
		}
		taken[r.Name] = relation{machine: m, what: what, own: i == 0, table: r.Table}
	}
	return true
}
