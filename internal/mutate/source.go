package mutate

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrUnread is a text that is not as the generator writes it.
var ErrUnread = errors.New("not as the generator writes it")

// Load reads everything that can be broken of a project: the generated
// migrations, and the generated statements with what sqlc made of them, in the
// order of the files and in them. Queries by hand are left alone. root is the
// folder that has migrations, queries and gen/db.
//
// The errors are those of reading, the parser's, and ErrUnread.
func Load(root fs.FS) ([]*Source, error) {
	migrations, err := loadMigrations(root)
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(root, "queries/*.sql")
	if err != nil {
		return nil, err
	}
	out := migrations
	for _, file := range files {
		statements, err := loadQueries(root, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, statements...)
	}
	return out, name(out)
}

var (
	sourceLine = regexp.MustCompile(`(?m)^-- Source: definitions/(.+)\.yaml$`)
	modelLine  = regexp.MustCompile(`(?m)^-- fsmgen:model (\{.*\})$`)
	nameLine   = regexp.MustCompile(`(?m)^-- name: (\w+) :\w+\n`)
	eventLine  = regexp.MustCompile(`(?m)^-- Event (\w+)( in a batch)?:`)
	parameter  = regexp.MustCompile(`@\w+|sqlc\.n?arg\('\w+'\)`)
	placed     = regexp.MustCompile(`\$[0-9]+`)
	typed      = regexp.MustCompile(`(?:@\w+|sqlc\.n?arg\('\w+'\))::\w+(?:\[\])?`)
)

// loadQueries returns the statements of a generated query file, none for one by hand.
func loadQueries(root fs.FS, file string) ([]*Source, error) {
	content, err := fs.ReadFile(root, file)
	if err != nil {
		return nil, err
	}
	text := string(content)
	from := sourceLine.FindStringSubmatch(text)
	if from == nil {
		return nil, nil
	}
	run, err := constants(root, "gen/db/"+path.Base(file)+".go")
	if err != nil {
		return nil, err
	}
	var out []*Source
	for _, at := range nameLine.FindAllStringSubmatchIndex(text, -1) {
		lo := at[1]
		for strings.HasPrefix(text[lo:], "--") { // the comment of the query
			lo += strings.IndexByte(text[lo:], '\n') + 1
		}
		end := strings.Index(text[lo:], ";\n")
		if end < 0 {
			return nil, fmt.Errorf("%w: %s has no end", ErrUnread, text[at[2]:at[3]])
		}
		s := &Source{
			Machine: from[1], Name: text[at[2]:at[3]], File: file,
			Line: 1 + strings.Count(text[:lo], "\n"), Text: text[lo : lo+end],
		}
		if event := eventLine.FindStringSubmatch(text[at[1]:lo]); event != nil {
			s.Event, s.Batch = event[1], event[2] != ""
		}
		if err := s.pair(run[s.Name]); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// pair finds out which parameter sqlc gave which number.
func (s *Source) pair(run string) error {
	head, body, _ := strings.Cut(run, "\n")
	rest := strings.TrimLeft(body, "\n")
	s.head = head + "\n" + body[:len(body)-len(rest)]
	names, numbers := parameter.FindAllString(s.Text, -1), placed.FindAllString(body, -1)
	if len(names) != len(numbers) {
		return fmt.Errorf("%w: %s has %d parameters, and %d in what is run", ErrUnread, s.Name, len(names), len(numbers))
	}
	s.params = make(map[string]string, len(names))
	for i, n := range names {
		s.params[n] = numbers[i]
	}
	if s.run(s.Text) != run {
		return fmt.Errorf("%w: %s is not what is run", ErrUnread, s.Name)
	}
	return nil
}

// run returns what is run for a text of the source.
func (s *Source) run(text string) string {
	if s.Migration {
		return s.head + text + s.tail
	}
	body := parameter.ReplaceAllStringFunc(text, func(p string) string { return s.params[p] })
	if lost := s.lost(body); lost != "" {
		if rest, ok := strings.CutPrefix(body, "WITH "); ok {
			body = "WITH " + lost + ", " + rest
		} else {
			body = "WITH " + lost + " " + body
		}
	}
	return s.head + body + "\n"
}

// lost is a part of a statement, which does nothing, that names the parameters
// which a mutant has lost: PostgreSQL would not know their types, and the
// caller gives them all the same. It is empty when none is lost.
func (s *Source) lost(body string) string {
	var names []string
	for _, p := range typed.FindAllString(s.Text, -1) {
		number := s.params[parameter.FindString(p)]
		if !slices.Contains(placed.FindAllString(body, -1), number) {
			_, kind, _ := strings.Cut(p, "::")
			names = once(names, number+"::"+kind)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "lost AS (SELECT " + strings.Join(names, ", ") + ")"
}

// constants returns the string constants of a Go file of sqlc, by the name of the query.
func constants(root fs.FS, file string) (map[string]string, error) {
	content, err := fs.ReadFile(root, file)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, d := range parsed.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != gotoken.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			lit, ok := v.Values[0].(*ast.BasicLit)
			if !ok {
				continue
			}
			value, err := strconv.Unquote(lit.Value)
			if err != nil {
				return nil, err
			}
			if at := nameLine.FindStringSubmatch(value); at != nil {
				out[at[1]] = value
			}
		}
	}
	return out, nil
}

// loadMigrations returns the part of each generated migration that goes up.
func loadMigrations(root fs.FS) ([]*Source, error) {
	files, err := fs.Glob(root, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var out []*Source
	for _, file := range files {
		content, err := fs.ReadFile(root, file)
		if err != nil {
			return nil, err
		}
		text := string(content)
		if !strings.HasPrefix(text, "-- Code generated by fsmgen.") || strings.Contains(text, "\n-- fsmgen:tables ") {
			continue // by hand, or tables of the runtime, which no generated test looks at
		}
		const up, down = "-- +goose Up\n", "\n-- +goose Down\n"
		lo, hi := strings.Index(text, up), strings.Index(text, down)
		if lo < 0 || hi < 0 {
			return nil, fmt.Errorf("%w: %s has no way up and down", ErrUnread, file)
		}
		lo += len(up)
		s := &Source{
			Name: path.Base(file), File: file, Line: 1 + strings.Count(text[:lo], "\n"),
			Text: text[lo:hi], Migration: true, words: &words{}, head: text[:lo], tail: text[hi:],
		}
		if m := modelLine.FindStringSubmatch(text); m != nil {
			var model struct {
				Machine string
				States  []string
			}
			if err := json.Unmarshal([]byte(m[1]), &model); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			s.Machine, s.words.states = model.Machine, model.States
		}
		out = append(out, s)
	}
	return out, madeAgain(out)
}

// name gives each source the names of its machine: states from the migrations,
// events and topics from what the statements write.
func name(sources []*Source) error {
	of := map[string]*words{}
	for _, s := range sources {
		w := of[s.Machine]
		if w == nil {
			w = &words{}
			of[s.Machine] = w
		}
		if s.Migration {
			w.states = s.words.states // those of the last migration
			continue
		}
		t, err := read(s.Text)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", s.File, s.Line, err)
		}
		for _, r := range t.roots {
			r.walk(w.collect)
		}
	}
	for _, s := range sources {
		if !s.Migration {
			w := *of[s.Machine]
			for _, p := range typed.FindAllString(s.Text, -1) {
				w.params = once(w.params, p)
			}
			s.words = &w
		}
	}
	return nil
}

// collect keeps the events and topics that a node writes.
func (w *words) collect(n *node) {
	switch n.kind {
	case "InsertStmt":
		columns := n.all("cols")
		for i, v := range positional(n.one("select_stmt")) {
			if i < len(columns) && columns[i].str("name") == "event" && v.kind == "ResTarget" {
				if s, ok := v.one("val").constant(); ok {
					w.events = once(w.events, s)
				}
			}
		}
	case "A_ArrayExpr":
		for _, e := range n.all("elements") {
			if s, ok := e.constant(); ok {
				w.topics = once(w.topics, s)
			}
		}
	case "ResTarget":
		if !n.topic() {
			return
		}
		n.walk(func(k *node) {
			if s, ok := k.constant(); ok {
				w.topics = once(w.topics, s)
			}
		})
	}
}

func once(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
