package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/pawl-go/pawl/internal/mutate"
)

// saved is one result in a file of results.
type saved struct {
	ID       string `json:"id"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Operator string `json:"operator"`
	Before   string `json:"before"`
	After    string `json:"after"`
	// SQL is the digest of what was run, with the source's name.
	SQL    string `json:"sql"`
	Fate   fate   `json:"fate"`
	By     string `json:"by,omitempty"`
	Failed int    `json:"failed,omitempty"`
	Why    string `json:"why,omitempty"`
}

func digest(m *mutate.Mutant) string {
	sum := sha256.Sum256([]byte(m.Source.Name + "\n" + m.SQL()))
	return hex.EncodeToString(sum[:8])
}

// save writes all results to a file, none for an empty name.
func (r *report) save(file string) error {
	return write(file, r.json)
}

// write writes what is rendered to a file, none for an empty name.
func write(file string, render func() ([]byte, error)) error {
	if file == "" {
		return nil
	}
	content, err := render()
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644) //nolint:gosec // a report is for everybody
}

// json is one object a mutant, in order.
func (r *report) json() ([]byte, error) {
	list := make([]saved, len(r.results))
	for i, x := range r.results {
		list[i] = saved{x.ID, x.Source.File, x.Line, x.Column, x.Operator, x.Before, x.After, digest(x.Mutant), x.fate, x.by, x.of, ""}
		if x.fate == survived && x.why >= 0 {
			list[i].Why = mutate.Explanations()[x.why].Why
		}
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(list); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// known are results of a run before, by the digest of what was run.
type known map[string]saved

// readKnown reads a file of results; there are none without a name.
func readKnown(file string) (known, error) {
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []saved
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	k := known{}
	for _, x := range list {
		k[x.SQL] = x
	}
	return k, nil
}

// of returns what a run before said of a mutant, when it noticed it, or when
// PostgreSQL did not take it: that stays so under stronger tests.
func (k known) of(m *mutate.Mutant) (result, bool) {
	x, there := k[digest(m)]
	if !there || x.Fate != killed && x.Fate != stillborn {
		return result{}, false
	}
	return result{m, x.Fate, x.By, x.Failed, -1}, true
}

// tested leaves out the mutants that a run did not come to.
func tested(results []result) []result {
	var out []result
	for _, r := range results {
		if r.Mutant != nil {
			out = append(out, r)
		}
	}
	return out
}
