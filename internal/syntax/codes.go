package syntax

import "github.com/pawl-go/pawl/internal/diag"

// The codes of this package. FSM001 to FSM019 are reserved for it, apart from
// FSM012, which belongs to the checker.
const (
	// CodeSyntax: the text is not YAML; mend it at the place named.
	CodeSyntax diag.Code = "FSM001"
	// CodeEmpty: the file holds no definition; write one, starting with "machine:".
	CodeEmpty diag.Code = "FSM002"
	// CodeTooLarge: the file, or a line, is beyond what a person writes; split it into several machines or lines.
	CodeTooLarge diag.Code = "FSM003"
	// CodeTooDeep: values are nested beyond any legal definition; close the brackets, or flatten it.
	CodeTooDeep diag.Code = "FSM004"
	// CodeEncoding: the bytes are not UTF-8; save the file as UTF-8.
	CodeEncoding diag.Code = "FSM005"
	// CodeBOM: the file begins with a byte order mark; save it as UTF-8 without one.
	CodeBOM diag.Code = "FSM006"
	// CodeControl: an invisible control character stands in the text; delete it.
	CodeControl diag.Code = "FSM007"
	// CodeDuplicateKey: a mapping says one key twice, so one would be lost; delete or rename one.
	CodeDuplicateKey diag.Code = "FSM008"
	// CodeAlias: a value is borrowed from elsewhere with *name; write the value out.
	CodeAlias diag.Code = "FSM009"
	// CodeAnchor: a value is named with &name; remove the anchor.
	CodeAnchor diag.Code = "FSM010"
	// CodeTag: a value has an explicit type such as !!str; remove it, and quote the value if it is text.
	CodeTag diag.Code = "FSM011"
	// CodeMergeKey: "<<" would merge another mapping; write its keys out.
	CodeMergeKey diag.Code = "FSM013"
	// CodeSecondDocument: the file holds more than one document; use one file a machine.
	CodeSecondDocument diag.Code = "FSM014"
	// CodeKeyNotScalar: a key is a list or a mapping; use a plain name.
	CodeKeyNotScalar diag.Code = "FSM015"
	// CodeEmptyKey: nothing stands before a colon; write the key.
	CodeEmptyKey diag.Code = "FSM016"
	// CodeDirective: a line begins with "%"; delete it, no YAML directives are used.
	CodeDirective diag.Code = "FSM017"
	// CodeTooMany: the file has so many problems that the rest is not listed; mend the first ones.
	CodeTooMany diag.Code = "FSM018"
)

// Rules documents every code of this package, in order. The caller may keep
// and change the slice.
func Rules() []diag.Rule {
	return []diag.Rule{
		{Code: CodeSyntax, Short: "not valid YAML", Cause: "The text breaks a rule of YAML: indentation, a missing colon, bracket or quote.", Fix: "Mend the text at, or just before, the place named."},
		{Code: CodeEmpty, Short: "empty definition", Cause: "The file is empty or holds comments only.", Fix: "Write a definition, starting with `machine:`, or delete the file."},
		{Code: CodeTooLarge, Short: "file or line too large", Cause: "The file is larger than 4 MiB, has more keys and values than the largest machine needs, or has a line longer than 16 KiB.", Fix: "Split the definition into several machines, or the line into several lines."},
		{Code: CodeTooDeep, Short: "nested too deeply", Cause: "Lists and mappings are nested more than 64 levels deep.", Fix: "Close forgotten brackets; no part of a definition is nested that deeply."},
		{Code: CodeEncoding, Short: "not UTF-8", Cause: "The file has bytes that are not UTF-8, or is saved as UTF-16.", Fix: "Save the file as UTF-8."},
		{Code: CodeBOM, Short: "byte order mark", Cause: "The file begins with the invisible character U+FEFF.", Fix: "Save the file as UTF-8 without a byte order mark."},
		{Code: CodeControl, Short: "control character", Cause: "The text holds an invisible character that controls a terminal or the direction of text.", Fix: "Delete the character."},
		{Code: CodeDuplicateKey, Short: "key repeated", Cause: "One mapping has the same key twice; YAML would silently drop one.", Fix: "Delete or rename one of the two."},
		{Code: CodeAlias, Short: "alias", Cause: "A value is borrowed from another place with `*name`.", Fix: "Write the value out."},
		{Code: CodeAnchor, Short: "anchor", Cause: "A value is given a name with `&name`.", Fix: "Remove the anchor."},
		{Code: CodeTag, Short: "explicit tag", Cause: "A value has an explicit type such as `!!str` or `!x`.", Fix: "Remove the tag; quote the value if it is text."},
		{Code: CodeMergeKey, Short: "merge key", Cause: "The key `<<` would merge another mapping into this one.", Fix: "Write the keys out."},
		{Code: CodeSecondDocument, Short: "second document", Cause: "The file holds more than one YAML document.", Fix: "Use one file a machine."},
		{Code: CodeKeyNotScalar, Short: "key is not a name", Cause: "A key is a list or a mapping.", Fix: "Use a plain name as the key."},
		{Code: CodeEmptyKey, Short: "empty key", Cause: "Nothing stands before a colon.", Fix: "Write the key before the colon."},
		{Code: CodeDirective, Short: "directive", Cause: "A line begins with `%`.", Fix: "Delete the line."},
		{Code: CodeTooMany, Short: "too many problems", Cause: "The file has more than 100 syntax problems.", Fix: "Mend the first ones and look again."},
	}
}
