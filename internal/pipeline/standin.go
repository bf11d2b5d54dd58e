package pipeline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlcgen"
)

// standIns are what sqlc is shown of the tables that were there before their
// machines and that no migration of the project makes: the table as it was
// taken in, before all migrations. They are written nowhere.
func standIns(machines []*model.Machine, l *landed) []sqlcgen.File {
	var made []sqlcgen.File
	for _, m := range machines {
		if m.Table == nil || !m.Table.Existing || creates(l.files, "table", m.Table.Name) {
			continue
		}
		enum := m.Table.Status.Storage == model.StoredEnum && !creates(l.files, "type", m.Table.Status.Type)
		made = append(made, sqlcgen.File{Name: m.Name + ".sql", Content: gensql.StandIn(l.first[m.Table.Name], enum)})
	}
	return made
}

var comment = regexp.MustCompile(`--[^\n]*`)

// creates reports whether the way up of a file makes the table or type, with or without its
// schema and quotes.
func creates(files []sqlcgen.File, what, name string) bool {
	made := regexp.MustCompile(`(?i)\bcreate\s+(?:unlogged\s+)?` + what + `\s+(?:if\s+not\s+exists\s+)?(?:"?[a-z_][a-z0-9_$]*"?\s*\.\s*)?"?` + regexp.QuoteMeta(name) + `"?[\s(]`)
	return slices.ContainsFunc(files, func(f sqlcgen.File) bool {
		up, _, _ := strings.Cut(string(f.Content), "-- +goose Down")
		return made.MatchString(comment.ReplaceAllString(up, ""))
	})
}
