package pipeline

import (
	"path"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/jsonschema"
)

// schemaFile is the JSON Schema of definitions, relative to a project's root.
// It belongs to the version of fsmgen that wrote it, so every project has its
// own, and generation keeps it current.
var schemaFile = path.Join(Gen, "definition.schema.json")

// schemaLine is the first line of a definition that leads editors to the
// schema, from the folder of definitions.
const schemaLine = "# yaml-language-server: $schema=../gen/definition.schema.json\n"

// Schema returns the JSON Schema of a definition, by which editors complete,
// explain and check what is written.
func Schema() ([]byte, error) { return jsonschema.Definition(check.Language(), check.Rules()) }
