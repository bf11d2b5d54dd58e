package sqlexpr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlexpr"
)

func TestTreeNumbersParametersByName(t *testing.T) {
	t.Parallel()
	node, names, err := sqlexpr.Tree(`total_cents=@a AND @Bee>=@a+@amount_cents AND note <> '@a'`)
	require.NoError(t, err)
	require.Equal(t, map[int32]string{1: "a", 2: "bee", 3: "amount_cents"}, names)
	args := node.GetBoolExpr().GetArgs()
	require.Len(t, args, 3)
	require.EqualValues(t, 1, args[0].GetAExpr().GetRexpr().GetParamRef().GetNumber())
	require.EqualValues(t, 2, args[1].GetAExpr().GetLexpr().GetParamRef().GetNumber())
	sum := args[1].GetAExpr().GetRexpr().GetAExpr()
	require.EqualValues(t, 1, sum.GetLexpr().GetParamRef().GetNumber())
	require.EqualValues(t, 3, sum.GetRexpr().GetParamRef().GetNumber())
	require.Equal(t, "@a", args[2].GetAExpr().GetRexpr().GetAConst().GetSval().GetSval())
}

func TestTreeRefusesWhatIsNoExpression(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source string
		kind   sqlexpr.Kind
	}{
		{" ", sqlexpr.Empty},
		{"a = 1; DROP TABLE x", sqlexpr.Several},
		{"a, b", sqlexpr.Several},
		{"a = ", sqlexpr.Syntax},
		{"a = $1", sqlexpr.ParamSpelling},
		{"a = 1 -- b", sqlexpr.Comment},
		{"a = '\x00'", sqlexpr.Syntax},
	} {
		node, names, err := sqlexpr.Tree(c.source)
		require.Nil(t, node, c.source)
		require.Nil(t, names, c.source)
		var issue sqlexpr.Issue
		require.ErrorAs(t, err, &issue, c.source)
		require.Equal(t, c.kind, issue.Kind, c.source)
	}
}
