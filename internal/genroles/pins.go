package genroles

import (
	"regexp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// pin is a setting of a session's that a function has a value of its own for, since
// the session could change with it what the function's text means: how literals are
// read, what a comparison with NULL is, what day a time is on, how a value is as text.
type pin struct {
	// set is as SET has it.
	set string
	// needed reports whether a statement needs it; nil for all. One that costs much, or whose
	// right value is the database's own, is pinned where it can matter.
	needed func(traits) bool
}

// pins are those that matter for the SQL that definitions may have. Each costs about
// a microsecond a call, but for the abbreviations of zones, which are read from a
// file. What only makes a statement fail, such as backslash_quote, is left to whoever
// wants to fail.
var pins = []pin{
	{set: "standard_conforming_strings = on"},
	{set: "transform_null_equals = off"},
	{set: "array_nulls = on"},
	{set: "timezone = 'UTC'"},
	{set: "datestyle = 'ISO, MDY'"},
	{set: "intervalstyle = postgres"},
	{set: "extra_float_digits = 1"},
	{set: "bytea_output = hex"},
	{"timezone_abbreviations = 'Default'", func(t traits) bool { return t.zones }},
	{"lc_monetary FROM CURRENT", func(t traits) bool { return t.money }},
	{"default_text_search_config FROM CURRENT", func(t traits) bool { return t.searches }},
}

// traits are what a statement has that settings bear on.
type traits struct {
	zones, money, searches bool
	// cast are constants that are cast to something else than a time, as intervals are.
	cast []*pg.A_Const
}

var (
	digit   = regexp.MustCompile(`[0-9]`)
	letters = regexp.MustCompile(`[A-Za-z]{2}`)
	parted  = regexp.MustCompile(`[ :/+-]`)
	moneys  = regexp.MustCompile(`(?i)\bmoney\b`)
)

// named are the functions that take the name of a zone, with how many arguments they
// have at least then.
var named = map[string]int{"timezone": 1, "date_trunc": 3, "make_timestamptz": 7, "to_timestamp": 2}

// traitsOf reads a statement. A zone may have its abbreviation in AT TIME ZONE and in
// other functions, in a text that is cast to a time, and in a literal that may be one.
// The error is the parser's.
func traitsOf(s Statement) (traits, error) {
	tree, err := pgparse.Parse(s.SQL)
	if err != nil {
		return traits{}, err
	}
	t := traits{money: moneys.MatchString(s.SQL + " " + strings.Join(s.Params, " "))}
	for _, c := range s.Columns {
		t.money = t.money || moneys.MatchString(c.Type)
	}
	r := &reading{}
	for _, one := range tree.GetStmts() {
		r.visit(one.GetStmt().ProtoReflect(), t.node)
	}
	return t, nil
}

func (t *traits) node(n any) {
	last := func(names []*pg.Node) string {
		if len(names) == 0 {
			return ""
		}
		return names[len(names)-1].GetString_().GetSval()
	}
	switch n := n.(type) {
	case *pg.FuncCall:
		t.zones = t.zones || named[last(n.GetFuncname())] != 0 && len(n.GetArgs()) >= named[last(n.GetFuncname())]
	case *pg.TypeCast:
		if !strings.HasPrefix(last(n.GetTypeName().GetNames()), "time") {
			t.cast = append(t.cast, n.GetArg().GetAConst())
			return
		}
		t.zones = t.zones || n.GetArg().GetParamRef() == nil
	case *pg.A_Const:
		text := n.GetSval().GetSval()
		t.zones = t.zones || !slices.Contains(t.cast, n) && digit.MatchString(text) && letters.MatchString(text) && parted.MatchString(text)
	case *pg.A_Expr:
		t.searches = t.searches || last(n.GetName()) == "@@"
	}
}

// settings are what a function of s has settings for, each as SET has it.
func (s Statement) settings(n Names) ([]string, error) {
	t, err := traitsOf(s)
	if err != nil {
		return nil, err
	}
	list := []string{"search_path = " + n.path()}
	for _, p := range pins {
		if p.needed == nil || p.needed(t) {
			list = append(list, p.set)
		}
	}
	return list, nil
}
