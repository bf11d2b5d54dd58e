package diag_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
)

func TestWaivedProblemsDoNotCount(t *testing.T) {
	t.Parallel()
	var l, whole diag.List
	p := diag.Problem{Pos: diag.Position{File: "a.yaml", Line: 3, Col: 5}, Code: "FSM077", Severity: diag.Error, Message: "money"}
	l.Waive(p, "points are no money")
	require.Zero(t, l.Len())
	require.Zero(t, l.Errors())
	require.Empty(t, l.Sorted())
	whole.Append(&l)
	require.Equal(t, []diag.Waived{{Problem: p, Reason: "points are no money"}}, whole.Waived())
	require.Nil(t, (*diag.List)(nil).Waived())

	var b bytes.Buffer
	require.NoError(t, whole.SARIF(&b, diag.Tool{}, nil))
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID       string
				Suppressions []map[string]string
			}
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &log))
	require.Len(t, log.Runs[0].Results, 1)
	require.Equal(t, "FSM077", log.Runs[0].Results[0].RuleID)
	require.Equal(t, []map[string]string{{"kind": "inSource", "justification": "points are no money"}}, log.Runs[0].Results[0].Suppressions)
}
