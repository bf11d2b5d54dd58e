package hostile

import "strings"

// texts want to end what they stand in and to begin something else.
var texts = []string{
	// SQL
	"'; DROP TABLE fsm_outbox; --", "''", "\\'; SELECT 1; --", `"; DROP TABLE fsm_audit; --`, "$$; END $$; DROP TABLE fsm_outbox; $$", "$fsm0$ $fsm1$ $$",
	"*/ SELECT 1; /*", "/* open", "-- the rest of the line", "%s %% %I", "@fsm_key", "sqlc.arg('x')", ":name ? $1", "U&'\\0041'", "E'\\n'", "x\\",
	// what goose and sqlc read in comments
	"a\n-- +goose Down\nDROP TABLE fsm_outbox;", "-- +goose StatementEnd", "a;\n-- +goose Up", "-- +goose ENVSUB ON ${HOME}", "a\n-- name: Evil :exec\nDELETE FROM fsm_outbox;",
	"name: Evil :exec", "@param x text", "@sqlc-vet-disable", "a\n-- fsmgen:model {\"format\":1}", "-- fsmgen:core 1",
	// Go
	"a\n*/\nfunc init() { panic(1) }", "//go:build ignore", "a\n//go:generate rm -rf /", "//go:embed secret", "//line evil.go:1", "+build ignore", "//export Evil", "`+\"x\"+`", "\\x00 \\u202e",
	"# Heading", "Deprecated: never", "[x]: https://example.com", "a\n\tcode()\n", "{{.}} {{template \"x\"}}",
	// markup
	"<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "\"><svg onload=alert(1)>", "' onmouseover='x", "<!-- x", "--> <b>", "]]> &lt; &#x27; &amp;", "</title><style>*{}",
	"javascript:alert(1)", "[a](javascript:alert(1))", "![a](x)", "a | b \\| c", "`a` ``b``", "**a** __b__ ~~c~~", "1. a\n2. b", "> a", "- a\n- b", "<https://example.com>", "| --- |",
	// diagrams
	"\"] --> X[\"", "a --> b : c", "%%{init: {}}%%", "end\nsubgraph x", "click A href \"x\"", "note right of A", "@enduml", "!include /etc/passwd", "\\l\\r\\N", "#quot; #35;", "A:::evil", "]; evil [label=x", "state \"x\" as y", ";\n;", "<<choice>>", "direction LR",
	// tables
	"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(\"http://x\")", "'=1", "\uFF1D1", "a,b;c\"d", "a\r\nb", "_x0041_", "1e5", "TRUE", "a;=1",
	// Gherkin
	"Scenario: x", "\"\"\"", "@tag", "Given x", "# language: de", "<x>", "Examples:",
	// text itself
	"", " ", "\u202e\u2066abc", "\uFEFFa", "a\u2028b\u2029c", "a\x00b", "a\x1b[31mb", "\u0130\u0131\u017f\u212a", "e\u0301\u00e9", "待支付 👩‍👩‍👧", "\u200b", "a\u00a0b", "\U000e0041", "\uFFFE", strings.Repeat("W", 300), strings.Repeat("a ", 200),
}

// expressions want to be more than one expression of one row.
var expressions = []string{
	"true", "1 = 1", "'a''b' = 'c'", "$$a  b$$ = 'x'", "$$a  b$$ <> $$a b$$", "$x$ -- $x$ = $x$;$x$", "E'\\'; --' = 'x'", "U&'\\0027' = 'x'", "1 = 1 -- c", "1 = 1 /* c", "1 = 1); DROP TABLE fsm_outbox; --", "(1 = 1) AND (2 = 2)",
	"true\n  AND '-- +goose Down' <> 'x'", "'a'\n<>\n'b'", "1 = 1\nAND 2 = 2", "'a;b' <> 'c'", "1::numeric(10, (SELECT 1)) = 1", "1::numeric(10, pg_sleep(1)) = 1", "now() > '2000-01-01'", "EXISTS (SELECT 1)", "fsm_x = 1", "sqlc.arg('x') = 1",
	"1\n# 1 = 0 AND 'a' = 'a'", "8 - 1\n# 5\n= 2 AND 'x' <> 'y'", "'1'::integer\n\t# 1 = 0", "version > 0", "concat(version, $$ ' $$) <> ''", "'%' <> '%%'", "'a' LIKE '%\\' ESCAPE '!'", "ARRAY[1, 2] = ARRAY[1]", "CASE WHEN true THEN true END", "true IS TRUE OR NULL", "'`' <> '\\'", "'${HOME}' <> ''", "interval '1 day' > interval '1' hour",
}
