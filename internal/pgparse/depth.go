package pgparse

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// maxDepth bounds how deep a tree can become. The parser in WebAssembly was
// seen to run out of stack at 2,000 and to hold at 1,000.
const maxDepth = 300

// opening tokens begin a level, closing ones end it.
var (
	opening = map[pg.Token]bool{pg.Token_ASCII_40: true, pg.Token_ASCII_91: true, pg.Token_CASE: true, pg.Token_ATOMIC: true}
	closing = map[pg.Token]bool{pg.Token_ASCII_41: true, pg.Token_ASCII_93: true, pg.Token_END_P: true}
	// fresh tokens begin a new item of a list, whose tree stands beside the last.
	fresh = map[pg.Token]bool{
		pg.Token_ASCII_44: true, pg.Token_AND: true, pg.Token_OR: true,
		pg.Token_WHEN: true, pg.Token_THEN: true, pg.Token_ELSE: true,
	}
	// chained tokens put the tree before them, or behind them, one level down,
	// as long as no list goes on.
	chained = map[pg.Token]bool{
		pg.Token_Op: true, pg.Token_ASCII_43: true, pg.Token_ASCII_45: true, pg.Token_ASCII_42: true, pg.Token_ASCII_47: true,
		pg.Token_ASCII_37: true, pg.Token_ASCII_94: true, pg.Token_ASCII_60: true, pg.Token_ASCII_61: true, pg.Token_ASCII_62: true,
		pg.Token_LESS_EQUALS: true, pg.Token_GREATER_EQUALS: true, pg.Token_NOT_EQUALS: true,
		pg.Token_NOT: true, pg.Token_IS: true, pg.Token_ISNULL: true, pg.Token_NOTNULL: true, pg.Token_TYPECAST: true,
		pg.Token_COLLATE: true, pg.Token_AT: true, pg.Token_OPERATOR: true,
	}
	// joined tokens do the same, and lists between them change nothing.
	joined = map[pg.Token]bool{pg.Token_UNION: true, pg.Token_EXCEPT: true, pg.Token_INTERSECT: true, pg.Token_JOIN: true}
)

// level is what stands between an opening token and its end.
type level struct {
	opener        pg.Token
	chained, sets int
}

// shallow returns ErrDeep when the text could make a tree that is too deep. A
// text that cannot be cut into tokens is left to the parser, which stops there too.
func shallow(sql string) error {
	result, err := Scan(sql)
	if err != nil {
		return nil //nolint:nilerr // the parser tells it better
	}
	levels, total := []level{{}}, 0
	for _, t := range result.GetTokens() {
		token, top := t.GetToken(), &levels[len(levels)-1]
		switch {
		case opening[token]:
			levels = append(levels, level{opener: token})
			total++
		case closing[token] && len(levels) > 1 && closes(top.opener, token):
			total -= 1 + top.chained + top.sets
			levels = levels[:len(levels)-1]
		case token == pg.Token_ASCII_59:
			total -= top.chained + top.sets
			top.chained, top.sets = 0, 0
		case fresh[token]:
			total -= top.chained
			top.chained = 0
		case chained[token]:
			top.chained++
			total++
		case joined[token]:
			top.sets++
			total++
		}
		if total > maxDepth {
			return ErrDeep
		}
	}
	return nil
}

func closes(opener, closer pg.Token) bool {
	switch closer {
	case pg.Token_ASCII_41:
		return opener == pg.Token_ASCII_40
	case pg.Token_ASCII_93:
		return opener == pg.Token_ASCII_91
	}
	return opener == pg.Token_CASE || opener == pg.Token_ATOMIC
}
