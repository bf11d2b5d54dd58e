package syntax

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/pawl-go/pawl/internal/diag"
)

// Parse reads one definition. Every problem is added to the list, with its
// position in file, which is only a name: nothing is opened. The result is nil
// when the text cannot be used at all; with a result there may be problems
// still, and the parts that they are about may be missing from the tree.
//
// Parse never panics, whatever the bytes, and may be called concurrently with
// different lists. The tree refers to src, which must not change afterwards.
func Parse(file string, src []byte, problems *diag.List) *Node {
	r := &reporter{list: problems, file: file}
	if len(src) > MaxBytes {
		// How much more is not known: a caller may have stopped reading.
		r.add(diag.Position{File: file}, CodeTooLarge, "this file has more than %d MiB; split the definition into several machines", MaxBytes>>20)
		return nil
	}
	first := diag.Position{File: file, Line: 1, Col: 1}
	if utf16(src) {
		r.add(first, CodeEncoding, "this file is UTF-16; save it as UTF-8")
		return nil
	}
	if rest, found := bytes.CutPrefix(src, []byte("\uFEFF")); found {
		r.add(first, CodeBOM, "this file begins with a byte order mark; save it as UTF-8 without one")
		src = rest
	}
	s := newSource(file, src)
	if !r.checkText(s) || !r.checkMarks(s) {
		return nil
	}
	root, again := load(s, r)
	for again && !r.full() {
		root, again = load(s, r)
	}
	if root == nil {
		return nil
	}
	c := converter{src: s, report: r}
	return c.node(root, 1)
}

// utf16 reports whether a text begins as one in UTF-16 does, with a byte order
// mark or an ASCII character.
func utf16(src []byte) bool {
	return bytes.HasPrefix(src, []byte{0xFE, 0xFF}) || bytes.HasPrefix(src, []byte{0xFF, 0xFE}) ||
		len(src) > 1 && (src[0] == 0) != (src[1] == 0)
}

// load lets the library read the text. Only nodes are asked for, so the
// library never follows an alias. Again says that what stopped it was told and
// put aside, so that the rest can be read.
func load(s *source, r *reporter) (root *yaml.Node, again bool) {
	defer func() {
		// The library reports by panicking inside and recovers only what it
		// knows; a slip in it must not take the program down.
		if v := recover(); v != nil {
			r.add(diag.Position{File: s.file}, CodeSyntax, "this text cannot be read as YAML")
			root, again = nil, false
		}
	}()
	limit := &depthLimit{}
	loader, err := yaml.NewLoader(bytes.NewReader(s.text), yaml.WithPlugin(limit))
	if err != nil {
		r.add(diag.Position{File: s.file}, CodeSyntax, "this text cannot be read as YAML: %v", err)
		return nil, false
	}
	var doc yaml.Node
	switch err := loader.Load(&doc); {
	case err == nil:
	case errors.Is(err, io.EOF):
		r.add(diag.Position{File: s.file}, CodeEmpty, "this file holds no definition")
		return nil, false
	default:
		return nil, r.loadError(s, err, limit.exceeded)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		r.add(diag.Position{File: s.file}, CodeEmpty, "this file holds no definition")
		return nil, false
	}
	root = doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Value == "" && root.Style == 0 && root.Anchor == "" {
		r.add(diag.Position{File: s.file}, CodeEmpty, "this file holds no definition")
		return nil, false
	}
	var second yaml.Node
	switch err := loader.Load(&second); {
	case err == nil:
		pos := diag.Position{File: s.file, Line: second.Line, Col: second.Column}
		r.add(pos, CodeSecondDocument, "a second document begins here; use one file a machine")
	case errors.Is(err, io.EOF):
	default:
		return nil, r.loadError(s, err, limit.exceeded)
	}
	return root, false
}

// depthLimit stops the library early, before it builds a deep tree.
type depthLimit struct{ exceeded bool }

// CheckDepth implements [yaml.LoaderLimitsPlugin].
func (d *depthLimit) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > maxDepth {
		d.exceeded = true
		return errTooDeep
	}
	return nil
}

// CheckAlias implements [yaml.LoaderLimitsPlugin]; aliases are refused later,
// with their positions, and are never followed.
func (*depthLimit) CheckAlias(int, int) error { return nil }

var errTooDeep = errors.New("nested too deeply")

// converter builds our tree from the library's.
type converter struct {
	src    *source
	report *reporter
}

func (c *converter) position(n *yaml.Node) diag.Position {
	if n.Line > len(c.src.lines) {
		// What is missing at the end is one line further for the library.
		return c.src.position(len(c.src.text))
	}
	return diag.Position{File: c.src.file, Line: n.Line, Col: n.Column}
}

// node returns nil for what has no place in a definition, after reporting it.
func (c *converter) node(n *yaml.Node, depth int) *Node {
	if n == nil || c.report.full() {
		return nil
	}
	pos := c.position(n)
	if depth > maxDepth {
		c.report.add(pos, CodeTooDeep, "values are nested more than %d levels deep", maxDepth)
		return nil
	}
	if n.Kind == yaml.AliasNode {
		c.report.add(pos, CodeAlias, "the alias *%s is not allowed; write the value out", short(n.Value))
		return nil
	}
	c.properties(n, pos)
	switch n.Kind {
	case yaml.ScalarNode:
		return &Node{Kind: KindScalar, Pos: pos, Scalar: c.scalar(n)}
	case yaml.SequenceNode:
		seq := &Sequence{Pos: pos}
		for _, item := range n.Content {
			if child := c.node(item, depth+1); child != nil {
				seq.Items = append(seq.Items, child)
			}
		}
		return &Node{Kind: KindSequence, Pos: pos, Sequence: seq}
	case yaml.MappingNode:
		return &Node{Kind: KindMapping, Pos: pos, Mapping: c.mapping(n, depth)}
	}
	c.report.add(pos, CodeSyntax, "this cannot stand here")
	return nil
}

// properties reports what may be written before a value in YAML, but not here.
func (c *converter) properties(n *yaml.Node, pos diag.Position) {
	if n.Anchor != "" {
		c.report.add(pos, CodeAnchor, "the anchor &%s is not allowed; remove it", short(n.Anchor))
	}
	if n.Style&yaml.TaggedStyle != 0 || n.Tag == "!" {
		c.report.add(pos, CodeTag, "the tag %s is not allowed; remove it, and quote the value if it is text", short(n.Tag))
	}
}

func (c *converter) mapping(n *yaml.Node, depth int) *Mapping {
	m := &Mapping{Pos: c.position(n)}
	for i := 0; i+1 < len(n.Content) && !c.report.full(); i += 2 {
		key := c.key(n.Content[i])
		value := c.node(n.Content[i+1], depth+1)
		if key == nil {
			continue
		}
		if first, repeated := m.Entry(key.Text); repeated {
			c.report.add(key.Pos, CodeDuplicateKey, "key %s is repeated; it is first at line %d",
				quote(key.Text), first.Key.Pos.Line)
			continue
		}
		if value == nil {
			// Keep the key, so that the checker does not call it missing too.
			value = &Node{Kind: KindScalar, Pos: key.Pos, Scalar: &Scalar{Pos: key.Pos, Ambiguous: true}}
		}
		m.add(Entry{Key: key, Value: value})
	}
	return m
}

// key returns nil for what cannot be a key, after reporting it.
func (c *converter) key(n *yaml.Node) *Scalar {
	pos := c.position(n)
	switch n.Kind {
	case yaml.ScalarNode:
	case yaml.AliasNode:
		c.report.add(pos, CodeAlias, "the alias *%s is not allowed; write the key out", short(n.Value))
		return nil
	default:
		c.report.add(pos, CodeKeyNotScalar, "a key must be a name, not a list or a mapping")
		return nil
	}
	c.properties(n, pos)
	key := c.scalar(n)
	switch {
	case key.Text == "<<" && !key.Quoted:
		c.report.add(pos, CodeMergeKey, "the merge key << is not allowed; write the keys out")
		return nil
	case key.Text == "":
		c.report.add(pos, CodeEmptyKey, "the key before this colon is empty")
		return nil
	}
	return key
}

func (c *converter) scalar(n *yaml.Node) *Scalar {
	s := &Scalar{Pos: c.position(n), Text: n.Value, style: styleOf(n.Style), src: c.src}
	s.Quoted = s.style != stylePlain
	if len(c.src.stoodIn) > 0 && !s.Quoted && s.Text != "" {
		if was, ok := c.src.stoodIn[c.src.offset(n.Line, n.Column)]; ok {
			s.Text = string(was) + s.Text[1:]
		}
	}
	s.Ambiguous = !s.Quoted && ambiguous(s.Text)
	// The source is clean by now; escapes can still make what it may not hold.
	for at, r := range s.Text {
		if r != '\n' && hidden(r) || r == utf8.RuneError && invalidAt(s.Text[at:]) {
			c.report.add(s.PosAt(at), CodeControl, "the control character U+%04X is not allowed; remove the escape", r)
			break
		}
	}
	return s
}

func invalidAt(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size == 1
}

// quote shows a user's text in a message without letting it fill the screen.
func quote(s string) string { return strconv.Quote(short(s)) }

func short(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
