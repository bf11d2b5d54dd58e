package syntax

import "regexp"

// ambiguousWords are the plain words that YAML 1.1 or 1.2 does not read as
// text. 1.1 is at yaml.org/type, 1.2 is the core schema of its chapter 10.
var ambiguousWords = map[string]bool{
	"": true, "~": true, "null": true, "Null": true, "NULL": true,
	"true": true, "True": true, "TRUE": true, "false": true, "False": true, "FALSE": true,
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true,
	"n": true, "N": true, "no": true, "No": true, "NO": true,
	"on": true, "On": true, "ON": true, "off": true, "Off": true, "OFF": true,
	"<<": true, "=": true,
}

// ambiguousForms match numbers and times of YAML 1.1 and 1.2, and those that
// common libraries add to them.
var ambiguousForms = regexp.MustCompile(`^(?:` +
	`[-+]?[0-9][0-9_]*` + // whole numbers, octal ones of 1.1 included
	`|[-+]?0[bB][01_]+|[-+]?0[oO][0-7_]+|[-+]?0[xX][0-9a-fA-F_]+` +
	`|[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?` +
	`|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?` + // base 60
	`|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)` +
	`|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?` +
	`)$`)

// ambiguous reports whether a plain scalar is read as something other than
// text by some version of YAML.
func ambiguous(text string) bool {
	return ambiguousWords[text] || len(text) < 128 && ambiguousForms.MatchString(text)
}
