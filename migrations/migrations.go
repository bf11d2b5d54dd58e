// Package migrations embeds the database migrations, for goose.
package migrations

import "embed"

// FS holds the migrations, in its root.
//
//go:embed *.sql
var FS embed.FS
