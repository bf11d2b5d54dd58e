package simulate_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/simulate"
)

func TestALinkIsReadAsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]simulate.Step{
		"":                    nil,
		"1":                   nil,
		"1/pay":               {{Name: "pay"}},
		"1/pay@3":             {{Name: "pay", Version: 3}},
		"1/.create":           {{Kind: simulate.Create}},
		"1/.sweep":            {{Kind: simulate.Sweep}},
		"1/.wait,30m/.sweep":  {{Kind: simulate.Wait, After: 30 * 60e9}, {Kind: simulate.Sweep}},
		"1/.correct,PAID@2":   {{Kind: simulate.Correct, Name: "PAID", Version: 2}},
		"1/.given,PAID@2,a=b": {{Kind: simulate.Given, Name: "PAID", Version: 2, Args: []simulate.Arg{{"a", "b"}}}},
		"1/e,a=1,.1=null":     {{Name: "e", Args: []simulate.Arg{{"a", "1"}}, Choices: []simulate.Choice{{"1", simulate.Null}}}},
		"1/a!2Fb!2C,x=!21=@.": {{Name: "a/b,", Args: []simulate.Arg{{"x", "!=@."}}}},
		"1/!2Ecreate!40":      {{Name: ".create@"}},
		"1/e,!2Ea!3D=":        {{Name: "e", Args: []simulate.Arg{{".a=", ""}}}},
		"1/待 支付,甲=乙":          {{Name: "待 支付", Args: []simulate.Arg{{"甲", "乙"}}}},
	} {
		script := simulate.Parse(text)
		require.Nil(t, script.Problem, text)
		require.Equal(t, want, script.Steps, text)
		if text != "" {
			require.Equal(t, text, simulate.Text(script.Steps), "and is written so again")
		}
	}
}

// What cannot be read is said of its step, and the others are as they are.
func TestALinkNeverFailsAsAWhole(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", ".what", ".wait", ".wait,x", ".wait,-3m", ".wait,0s", ".wait,9999d", ".wait,1m,2m", ".given", ".correct", ".correct,", "pay@", "pay@0", "pay@x", "pay@01", "pay@99999999999999999999",
		"e,a", "e,=b", "e,a=1,a=2", "e,.1=yes", "e,.=true", "e,a=!", "e,a=!zz", "e,a=!FF", "!", "e,.1=true,.1=false", "\xff", "e,a=\xff", ".create,x", ".given,A@",
	} {
		script := simulate.Parse("1/pay/" + bad + "/.sweep")
		require.Nil(t, script.Problem, bad)
		require.Len(t, script.Steps, 3, bad)
		require.NotNil(t, script.Steps[1].Bad, bad)
		require.Equal(t, simulate.NotReadable, script.Steps[1].Bad.Code)
		require.NotEmpty(t, script.Steps[1].Bad.Why)
		require.Equal(t, simulate.Step{Name: "pay"}, script.Steps[0])
		require.Equal(t, simulate.Step{Kind: simulate.Sweep}, script.Steps[2])
		require.Equal(t, "1/pay/"+bad+"/.sweep", simulate.Text(script.Steps), "a link that leads on keeps it")
	}
	m := sample(t)
	for step, want := range map[string]simulate.Problem{
		"payment_succeded,payment_no=1,paid_cents=1":    {Code: simulate.NoEvent, Name: "payment_succeded", Nearest: "payment_succeeded"},
		"payment_succeeded,payment_no=1":                {Code: simulate.Missing, Name: "paid_cents", Type: "bigint"},
		"payment_succeeded,payment_no=1,paid_cents=ten": {Code: simulate.BadValue, Name: "paid_cents", Type: "bigint", Why: "invalid input syntax for type bigint"},
		"payment_succeeded,payment_no=1,paid_cent=1":    {Code: simulate.Missing, Name: "paid_cents", Type: "bigint"},
		"payment_failed,payment_no=1,payment_nr=1":      {Code: simulate.NoParam, Name: "payment_nr", Nearest: "payment_no"},
		"payment_succeeded,payment_no=!00,paid_cents=1": {Code: simulate.BadValue, Name: "payment_no", Type: "text", Why: "it has a zero byte"},
		".correct,PAYD":     {Code: simulate.NoState, Name: "PAYD", Nearest: "PAID"},
		".correct,PAID,x=1": {Code: simulate.NoParam, Name: "x"},
		".sweep,x=1":        {Code: simulate.NoParam, Name: "x"},
		".given,PAID":       {Code: simulate.NotFirst, Name: ".given"},
		".create,sku=tea,quantity=1,total_cents=1":       {Code: simulate.Missing, Name: "customer_id", Type: "text"},
		".create,paid_cents=1":                           {Code: simulate.NoColumn, Name: "paid_cents"},
		"pay,.1=true":                                    {Code: simulate.NoChoice, Name: "1"},
		"pay,.total=true":                                {Code: simulate.NoChoice, Name: "total"},
		"refund,refund_no=1,amount_cents=1,.@nope=false": {Code: simulate.NoChoice, Name: "@nope"},
	} {
		tape := play(t, m, bought+"/"+step+"/pay")
		require.Equal(t, "Applied, not played, Applied", outcomes(tape), step)
		require.Equal(t, &want, tape.Steps[1].Problem, step)
		require.NotEmpty(t, want.Error())
	}
}

// A state that was renamed is found by the name that it had.
func TestALinkKnowsFormerNames(t *testing.T) {
	t.Parallel()
	m := machine(t, "machine: m\nstates: {A: {initial: true}, B: {final: true, was: OLD}}\nevents: {e: {}}\ntransitions: [{event: e, from: A, to: B}]\n")
	s := play(t, m, "1/.create/.correct,OLD").Steps[1]
	require.Equal(t, &simulate.Problem{Code: simulate.NoState, Name: "OLD", Nearest: "B"}, s.Problem)
}

func TestALinkIsBounded(t *testing.T) {
	t.Parallel()
	many := simulate.Parse("1" + strings.Repeat("/pay", simulate.MaxSteps+1))
	require.Len(t, many.Steps, simulate.MaxSteps)
	require.Equal(t, &simulate.Problem{Code: simulate.TooLong, Name: "pay"}, many.Problem)
	long := simulate.Parse("1/pay/e,a=" + strings.Repeat("x", simulate.MaxLength))
	require.Len(t, long.Steps, 1)
	require.Equal(t, simulate.TooLong, long.Problem.Code)
	require.Less(t, len(long.Problem.Name), 100)
	whole := "1/pay/e,a=" + strings.Repeat("x", simulate.MaxLength-len("1/pay/e,a="))
	require.Nil(t, simulate.Parse(whole).Problem)
	for _, text := range []string{"2/pay", "pay", strings.Repeat("x", 9999), "/", "1pay"} {
		require.Equal(t, simulate.OtherVersion, simulate.Parse(text).Problem.Code, text)
		require.Empty(t, simulate.Parse(text).Steps)
	}
}

// FuzzParse: whatever a link says, it is read, written and played without a panic,
// and what is written is read as the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		bought + "/pay/payment_succeeded,payment_no=p1,paid_cents=100/.wait,30m/.sweep/.correct,PAID@3", "1/.given,PAID@3,total_cents=9/refund,refund_no=!21,amount_cents=-1",
		"1/.create,rest=6/e,x=1,.1=true/f@1,word=%00", "1/!2E/!/,/=,=/.", "1/\xff", "2", "",
	} {
		f.Add(text)
	}
	machines := []*simulate.Machine{sample(f), machine(f, hard)}
	f.Fuzz(func(t *testing.T, text string) {
		script := simulate.Parse(text)
		require.LessOrEqual(t, len(script.Steps), simulate.MaxSteps)
		written := simulate.Text(script.Steps)
		if len(written) <= simulate.MaxLength {
			again := simulate.Parse(written)
			require.Nil(t, again.Problem)
			require.Equal(t, len(script.Steps), len(again.Steps))
			require.Equal(t, written, simulate.Text(again.Steps))
		}
		values, err := url.ParseQuery("s=" + simulate.Query(written))
		require.NoError(t, err)
		require.Equal(t, written, values.Get("s"))
		for _, m := range machines {
			tape := m.Play(script.Steps)
			require.Len(t, tape.Steps, len(script.Steps))
			for _, s := range tape.Steps {
				require.NotEmpty(t, s.Outcome)
				require.Equal(t, s.Outcome == simulate.NotPlayed, s.Problem != nil)
			}
			tape.Ways()
		}
	})
}
