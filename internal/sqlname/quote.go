package sqlname

import "strings"

// Ident quotes a name where PostgreSQL would read it as something else.
func Ident(name string) string {
	if reserved[name] || !plain(name) {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return name
}

func plain(name string) bool {
	for i, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r == '_':
		case r >= '0' && r <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// Literal is a string constant. A backslash means nothing in it as long as
// standard_conforming_strings is on, which it is since PostgreSQL 9.1.
func Literal(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// KeyText is a key as one text, the same whatever the session's settings, as
// outbox and audit have it: one column in PostgreSQL's spelling, several as a
// JSON array. The columns are SQL; date says of a single one that it is a date.
func KeyText(columns []string, date bool) string {
	switch {
	case len(columns) > 1:
		return "jsonb_build_array(" + strings.Join(columns, ", ") + ")::text"
	case date:
		return "(to_jsonb(" + columns[0] + ") #>> '{}')::text"
	}
	return columns[0] + "::text"
}

// reserved holds the words that PostgreSQL 15 to 18 does not take as a bare
// column or table name: pg_get_keywords() with catcode R or T, and those of C
// that a column name must not be.
var reserved = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`
		all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both
		case cast char character check coalesce collate collation column concurrently constraint create cross
		current_catalog current_date current_role current_schema current_time current_timestamp current_user
		dec decimal default deferrable desc distinct do else end except exists extract false fetch float for
		foreign freeze from full grant greatest group grouping having ilike in initially inner inout int integer
		intersect interval into is isnull join json json_array json_arrayagg json_exists json_object
		json_objectagg json_query json_scalar json_serialize json_table json_value lateral leading least left
		like limit localtime localtimestamp merge_action national natural nchar none normalize not notnull null
		nullif numeric offset on only or order out outer overlaps overlay placing position precision primary
		real references returning right row select session_user setof similar smallint some substring symmetric
		system_user table tablesample then time timestamp to trailing treat trim true union unique user using
		values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists
		xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`) {
		words[w] = true
	}
	return words
}()
