package randommachine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Case is a definition with what is done to its rows. It is kept as a file that a
// person can read: the definition, and behind a line of its own the keys and a step a
// line.
type Case struct {
	Definition string
	Keys       [][]string
	Steps      []Step
}

// between stands between the definition and what is done.
const between = "--- "

// Format writes the case as a file.
func (c Case) Format() string {
	var b strings.Builder
	b.WriteString(c.Definition)
	fmt.Fprintf(&b, "%skeys\n", between)
	for _, key := range c.Keys {
		b.WriteString(compact(key) + "\n")
	}
	fmt.Fprintf(&b, "%ssteps\n", between)
	for _, s := range c.Steps {
		b.WriteString(compact(s) + "\n")
	}
	return b.String()
}

func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts and numbers always have a JSON form
	return strings.TrimSuffix(b.String(), "\n")
}

// ParseCase reads what Format writes. The error says which line is none of a case.
func ParseCase(file string) (Case, error) {
	var c Case
	section := "definition"
	for i, l := range strings.Split(strings.TrimSuffix(file, "\n"), "\n") {
		if name, is := strings.CutPrefix(l, between); is {
			section = name
			continue
		}
		var err error
		switch section {
		case "definition":
			c.Definition += l + "\n"
		case "keys":
			var key []string
			err = json.Unmarshal([]byte(l), &key)
			c.Keys = append(c.Keys, key)
		case "steps":
			var s Step
			err = json.Unmarshal([]byte(l), &s)
			c.Steps = append(c.Steps, s)
		default:
			err = fmt.Errorf("there is no section %q", section)
		}
		if err != nil {
			return c, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return c, nil
}
