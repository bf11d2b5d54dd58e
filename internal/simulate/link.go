package simulate

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-go/pawl/internal/duration"
)

// Bounds of a link.
const (
	// MaxSteps is how many steps a life has at most.
	MaxSteps = 100
	// MaxLength is how many bytes the text of a life has at most, before it is
	// escaped for an address.
	MaxLength = 6000
)

// version begins every text of a life. It is raised when the writing changes its
// meaning; texts of other versions are refused, as whole.
const version = "1"

// Words for what is no event. Nothing that is named by a definition begins with a
// dot: such a name has it escaped.
const (
	wordCreate  = ".create"
	wordGiven   = ".given"
	wordWait    = ".wait"
	wordSweep   = ".sweep"
	wordCorrect = ".correct"
)

// Script is what a text of a life says.
type Script struct {
	Steps []Step
	// Problem is that of the text as a whole: OtherVersion, of which no step is
	// read, or TooLong, where what comes behind the steps is left out.
	Problem *Problem
}

// Parse reads the text of a life. It never fails as a whole: a step that cannot be
// read is there with its problem, and the others are as they are. The empty text
// is a life in which nothing has happened.
//
//	life   = "1" { "/" step }
//	step   = event [ "@" version ] { "," arg }
//	       | ".create" { "," arg } | ".given," state [ "@" version ] { "," arg }
//	       | ".wait," duration | ".sweep" | ".correct," state [ "@" version ]
//	arg    = name "=" value | "." choice "=" ( "true" | "false" | "null" )
//
// A character that would be read as one of these signs is written ! and its two
// hexadecimal digits.
func Parse(text string) Script {
	if text == "" {
		return Script{}
	}
	var s Script
	var rest string
	if len(text) > MaxLength {
		at := strings.LastIndexByte(text[:MaxLength+1], '/')
		rest = text[max(at, 0):]
		text = text[:max(at, 0)]
	}
	parts := strings.Split(text, "/")
	if parts[0] != version {
		s.Problem = &Problem{Code: OtherVersion, Name: cut(parts[0])}
		return s
	}
	if parts = parts[1:]; len(parts) > MaxSteps {
		parts, rest = parts[:MaxSteps], "/"+parts[MaxSteps]
	}
	for _, p := range parts {
		s.Steps = append(s.Steps, parseStep(p))
	}
	if rest != "" {
		first, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		s.Problem = &Problem{Code: TooLong, Name: cut(first)}
	}
	return s
}

// cut shortens what is shown of a text that nobody wrote by hand.
func cut(text string) string {
	const limit = 60
	text = strings.ToValidUTF8(text, "\uFFFD")
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit]) + "…"
}

func parseStep(text string) Step {
	s, err := readStep(text)
	if err != nil {
		return Step{Text: text, Bad: &Problem{Code: NotReadable, Name: cut(text), Why: err.Error()}}
	}
	return s
}

func readStep(text string) (Step, error) {
	parts := strings.Split(text, ",")
	word, args := parts[0], parts[1:]
	var s Step
	var err error
	switch word {
	case "":
		return s, fmt.Errorf("it says nothing")
	case wordCreate:
		s.Kind = Create
		return s, s.readArgs(args)
	case wordSweep:
		s.Kind = Sweep
		return s, s.readArgs(args)
	case wordWait:
		s.Kind = Wait
		if len(args) != 1 {
			return s, fmt.Errorf("it says one time, as in %s,30m", wordWait)
		}
		return s, s.readWait(args[0])
	case wordGiven, wordCorrect:
		s.Kind = Given
		if word == wordCorrect {
			s.Kind = Correct
		}
		if len(args) == 0 {
			return s, fmt.Errorf("it names a state, as in %s,NAME", word)
		}
		word, args = args[0], args[1:]
	}
	if s.Name, s.Version, err = readHead(word); err != nil {
		return s, err
	}
	return s, s.readArgs(args)
}

// maxWait keeps a life within the years that PostgreSQL and people can write.
const maxWait = 10 * 365 * 24 * 60 * 60 * 1e9

func (s *Step) readWait(text string) error {
	d, ok := duration.Parse(text)
	if !ok || d <= 0 || d > maxWait {
		return fmt.Errorf("%q is no time between 1ns and 3650d", cut(text))
	}
	s.After = d
	return nil
}

// readHead reads a name with the version behind it.
func readHead(text string) (name string, expected int64, err error) {
	text, number, has := strings.Cut(text, "@")
	if has {
		expected, err = strconv.ParseInt(number, 10, 64)
		if err != nil || expected < 1 || strconv.FormatInt(expected, 10) != number {
			return "", 0, fmt.Errorf("%q is no version", cut(number))
		}
	}
	if strings.HasPrefix(text, ".") {
		return "", 0, fmt.Errorf("there is no word %q", cut(text))
	}
	if name, err = unescape(text); err == nil && name == "" {
		err = fmt.Errorf("it has no name")
	}
	return name, expected, err
}

// readArgs reads what stands behind the head. A name that comes twice is refused.
func (s *Step) readArgs(args []string) error {
	seen := map[string]bool{}
	for _, text := range args {
		written, value, has := strings.Cut(text, "=")
		if !has {
			return fmt.Errorf("%q has no =", cut(text))
		}
		choice := strings.HasPrefix(written, ".")
		name, err := unescape(strings.TrimPrefix(written, "."))
		if err != nil {
			return err
		}
		if name == "" || seen[written] {
			return fmt.Errorf("%q has no name, or comes twice", cut(text))
		}
		seen[written] = true
		if choice {
			t := truthNamed(value)
			if t == Untold {
				return fmt.Errorf("%q is not true, false or null", cut(value))
			}
			s.Choices = append(s.Choices, Choice{name, t})
			continue
		}
		if value, err = unescape(value); err != nil {
			return err
		}
		s.Args = append(s.Args, Arg{name, value})
	}
	return nil
}

func truthNamed(word string) Truth {
	for _, t := range []Truth{True, False, Null} {
		if truths[t] == word {
			return t
		}
	}
	return Untold
}

// Text writes steps as [Parse] reads them.
func Text(steps []Step) string {
	var b strings.Builder
	b.WriteString(version)
	for _, s := range steps {
		b.WriteByte('/')
		s.write(&b)
	}
	return b.String()
}

func (s *Step) write(b *strings.Builder) {
	if s.Bad != nil {
		b.WriteString(s.Text)
		return
	}
	switch s.Kind {
	case Create:
		b.WriteString(wordCreate)
	case Sweep:
		b.WriteString(wordSweep)
	case Wait:
		b.WriteString(wordWait + "," + duration.Format(s.After))
		return
	case Given:
		b.WriteString(wordGiven + "," + head(s.Name, s.Version))
	case Correct:
		b.WriteString(wordCorrect + "," + head(s.Name, s.Version))
	default:
		b.WriteString(head(s.Name, s.Version))
	}
	for _, a := range s.Args {
		b.WriteString("," + escape(a.Name, "=", true) + "=" + escape(a.Text, "", false))
	}
	for _, c := range s.Choices {
		b.WriteString(",." + escape(c.Of, "=", false) + "=" + c.Truth.String())
	}
}

func head(name string, expected int64) string {
	text := escape(name, "@", true)
	if expected > 0 {
		text += "@" + strconv.FormatInt(expected, 10)
	}
	return text
}

// escape writes a text so that nothing in it is taken for a sign. What is not
// UTF-8 is replaced.
func escape(text, signs string, dot bool) string {
	var b strings.Builder
	for i, c := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case c < ' ', c == 0x7f, strings.ContainsRune("/,!"+signs, c), c == '.' && dot && i == 0:
			fmt.Fprintf(&b, "!%02X", c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func unescape(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", fmt.Errorf("it is not UTF-8")
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "!")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if len(rest) < 2 {
			return "", fmt.Errorf("! is not followed by two digits")
		}
		code, err := strconv.ParseUint(rest[:2], 16, 7)
		if err != nil {
			return "", fmt.Errorf("%q is no character", "!"+cut(rest[:2]))
		}
		b.WriteByte(byte(code))
		text = rest[2:]
	}
}

// Query is a text as the value of a query's parameter. Signs that an address may
// hold stay as they are, so that a link can be read.
func Query(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/,=@!:", c) >= 0:
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Escape writes a text so that it can stand where a value does.
func Escape(text string) string { return escape(text, "", false) }
