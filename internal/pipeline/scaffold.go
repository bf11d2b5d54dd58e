package pipeline

import (
	"errors"
	"io/fs"
	"path"

	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/sqlcgen"
)

// Scaffold returns what a project lacks before its first generation: the core
// migration, a Go package that embeds the migrations, sqlc's settings, and,
// where there is no definition yet, a small one to start from. What is there
// already is left out; the set may be empty.
func Scaffold(fsys fs.FS) (*fileset.Set, error) {
	set := fileset.New()
	files := []struct {
		name    string
		content []byte
	}{
		{path.Join(Migrations, "00001_fsm_core.sql"), gensql.Core()},
		{path.Join(Migrations, "migrations.go"), []byte(embedded)},
		{"sqlc.yaml", []byte(sqlcgen.Config)},
		{path.Join(Definitions, "article.yaml"), []byte(article)},
	}
	for _, f := range files {
		if _, err := fs.Stat(fsys, f.name); err == nil {
			continue
		}
		if path.Dir(f.name) == Definitions {
			_, err := DefinitionFiles(fsys, []string{Definitions})
			if err == nil {
				continue
			}
			if !errors.Is(err, ErrNoDefinitions) && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		if err := set.Add(f.name, f.content); err != nil {
			return nil, err
		}
	}
	return set, nil
}

const embedded = `// Package migrations embeds the database migrations, for goose.
package migrations

import "embed"

// FS holds the migrations, in its root.
//
//go:embed *.sql
var FS embed.FS
`

const article = schemaLine + `machine: article
describe: One article, from draft to archive.

table:
  name: articles
  key: {column: article_id, type: bigint}
  columns:
    title:        {type: text, check: title <> ''}
    published_at: {type: timestamptz, optional: true}

states:
  DRAFT:     {initial: true}
  IN_REVIEW: {}
  PUBLISHED: {}
  ARCHIVED:  {final: true}

events:
  submit:  {describe: the author is done, otherwise: {replay: [IN_REVIEW], reject: '*'}}
  reject:  {describe: the reviewer wants changes, otherwise: {ignore: [DRAFT], reject: '*'}}
  publish: {describe: the article goes public, otherwise: {replay: [PUBLISHED], reject: '*'}}
  archive: {describe: the article is taken down, otherwise: {replay: [ARCHIVED], reject: '*'}}

transitions:
  - {event: submit,  from: DRAFT,              to: IN_REVIEW}
  - {event: reject,  from: IN_REVIEW,          to: DRAFT}
  - {event: publish, from: [DRAFT, IN_REVIEW], to: PUBLISHED, set: {published_at: now()}}
  - {event: archive, from: PUBLISHED,          to: ARCHIVED}
`
