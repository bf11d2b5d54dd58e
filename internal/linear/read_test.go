package linear_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/linear"
)

func TestWhatIsNoHistory(t *testing.T) {
	t.Parallel()
	m := order(t)
	const call = `{"type":"call","id":"1","at":1,"machine":"order","key":"` + keyA + `","event":"pay"}` + "\n"
	for text, says := range map[string]string{
		`{"type":"cal"}` + "\n": `h.jsonl:1: there is no type "cal"`,
		"x\n":                   "h.jsonl:1: ",
		`{"type":"call","machine":"order"}` + "\n":                        "a call needs an id",
		`{"type":"call","id":"1","machine":"order","event":"pay"}` + "\n": "the call has no key",
		`{"type":"call","id":"1","machine":"order","event":"pya"}` + "\n": `machine order has no event "pya"`,
		call + call: `h.jsonl:2: the call "1" has not ended, and begins again`,
		`{"type":"return","id":"1","at":1}` + "\n":                                                                              `the answer is to "1", which has not been called`,
		call + `{"type":"return","id":"1","at":0}` + "\n":                                                                       "the answer is older than the call",
		call + `{"type":"return","id":"1","at":2}` + "\n":                                                                       `there is no outcome ""`,
		call + `{"type":"return","id":"1","at":2,"outcome":"Won"}` + "\n":                                                       `there is no outcome "Won"`,
		call + `{"type":"return","id":"1","at":2,"error":"bad"}` + "\n":                                                         `there is no error "bad"`,
		call + `{"type":"return","id":"1","at":2,"outcome":"Applied","state":"PAYING","version":2}` + "\n":                      "h.jsonl:1: nothing says how the row " + keyA + " began",
		`{"type":"row","machine":"order","key":"` + keyA + `","at":5,"state":"PENDING","version":1}` + "\n" + call:              "h.jsonl:1: the row " + keyA + " begins after it was called",
		`{"type":"row","machine":"order","key":"` + keyA + `","state":"GONE","version":1}` + "\n":                               `machine order has no state "GONE"`,
		`{"type":"row","machine":"order","state":"PENDING","version":1}` + "\n":                                                 "the row has no key",
		`{"type":"read","machine":"order","key":"` + keyA + `","at":1,"state":"PENDING","version":1}` + "\n":                    "a read needs the time since which it was under way",
		`{"type":"call","id":"1","at":1,"machine":"order","key":"a","event":"correct","params":{"to":"X"}}` + "\n":              "a correction needs the parameter to",
		`{"type":"call","id":"1","at":1,"machine":"order","key":"a","event":"payment_failed"}` + "\n":                           "the event payment_failed needs the parameter payment_no",
		`{"type":"call","id":"1","at":1,"machine":"order","key":"a","event":"payment_failed","params":{"no":1}}` + "\n":         "the parameters are [payment_no], and more were given",
		`{"type":"call","id":"1","at":1,"machine":"order","key":"a","event":"payment_failed","params":{"payment_no":1}}` + "\n": "payment_no: 1 is no text",
		"": linear.ErrNothing.Error(),
		`{"type":"call","id":"1","at":1,"machine":"parcel","key":"7","event":"send"}` + "\n": linear.ErrNothing.Error(),
	} {
		_, err := checked(m, []byte(text), linear.Options{})
		require.ErrorContains(t, err, says, text)
	}
	_, err := linear.NewHistory(machineOf(t, "machine: lamp\nstates:\n  DARK: {initial: true}\n  LIT: {}\nevents:\n  flip: {}\ntransitions:\n  - {event: flip, from: DARK, to: LIT}\n"))
	require.ErrorContains(t, err, "machine lamp has no table")
}

// A crash cuts the last line off: the call is then one that was never answered.
func TestALineThatWasCutOff(t *testing.T) {
	t.Parallel()
	m := order(t)
	text := lines(t, "order", born+`10-11 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2`)
	for cut := 2; cut < 40; cut += 7 {
		v, err := checked(m, text[:len(text)-cut], linear.Options{})
		require.NoError(t, err)
		require.Equal(t, linear.Accepted, v.Result())
		require.Equal(t, []int{1, 1}, []int{v.Torn, v.Doubtful})
	}
	_, err := checked(m, append(text[:len(text)-10:len(text)-10], '\n'), linear.Options{})
	require.ErrorContains(t, err, "h.jsonl:6: ")
}

// The calls of several files are one history, and ids may be used again.
func TestSeveralFiles(t *testing.T) {
	t.Parallel()
	m := order(t)
	read := func(texts ...string) linear.Result {
		h, err := linear.NewHistory(m)
		require.NoError(t, err)
		for _, text := range texts {
			require.NoError(t, h.Read(bytes.NewReader(lines(t, "order", text)), "h.jsonl"))
		}
		v, err := linear.Check(t.Context(), h, linear.Options{})
		require.NoError(t, err)
		return v.Result()
	}
	const pay = `10-11 c a pay | Applied PAYING 2 | pay PENDING>PAYING 2`
	require.Equal(t, linear.Accepted, read(born, pay, `12-13 c a cancel | Applied CANCELLED 3 | cancel PAYING>CANCELLED 3`))
	require.Equal(t, linear.Refused, read(born, pay, `12-13 c a cancel | Applied CANCELLED 2 | cancel PENDING>CANCELLED 2`))
}

// Who looked at all rows there are has seen that the others are gone.
func TestRowsThatAreGone(t *testing.T) {
	t.Parallel()
	m := order(t)
	whole := func(text string) *linear.Verdict {
		all := append(lines(t, "order", born+text), []byte(`{"type":"read","machine":"order","since":20,"at":23,"gone":true}`+"\n")...)
		v, err := checked(m, all, linear.Options{})
		require.NoError(t, err)
		return v
	}
	const both = `20-21 o a read | {"state":"PENDING","version":1}
		20-22 o b read | {"state":"PENDING","version":1}
	`
	require.Equal(t, linear.Accepted, whole(both).Result())
	v := whole(`20-21 o a read | {"state":"PENDING","version":1}`)
	require.Equal(t, linear.Refused, v.Result())
	require.Equal(t, []string{keyB}, v.Refused)
	require.Equal(t, 1, whole(both+`20-22 o 00000000-0000-4000-8000-00000000000c read | {"state":"PENDING","version":1}`).Strangers)
}
