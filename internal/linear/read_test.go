package linear_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/linear"
)

func TestWhatIsNoHistory(t *testing.T) {
	t.Parallel()
	m := order(t)
	const call = `{"type":"call","id":"1","at":1,"machine":"order","key":"` + keyA + `","event":"pay"}` + "\n"
	const read = `{"type":"read","machine":"order",`
	const swept = `{"type":"call","id":"s","at":1,"machine":"order","event":"sweep"}` + "\n" + `{"type":"return","id":"s","at":2,"swept":[`
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
		read + `"at":9,"since":3,"key":"` + keyA + `","state":"PENDING","version":1,"columns":{"total_centz":1}}` + "\n":        `machine order has no column "total_centz"`,
		read + `"at":9,"since":3,"key":"` + keyA + `","state":"PENDING","version":1,"columns":{"total_cents":"x"}}` + "\n":      "total_cents: ",
		read + `"at":9,"since":10,"key":"` + keyA + `","gone":true}` + "\n":                                                     "the time since which it was under way is later",
		read + `"at":9,"since":10,"gone":true}` + "\n":                                                                          "the time since which it was under way is later",
		read + `"at":9,"gone":true}` + "\n":                                                                                     "a read needs the time since which it was under way",
		strings.Replace(call, `"at":1`, `"at":1,"since":2`, 1):                                                                  "the time since which it was under way is later",
		strings.Replace(call, `"at":1`, `"at":9223372036854775807`, 1):                                                          "h.jsonl:1: a time is from 0 to 4611686018427387904 nanoseconds",
		strings.Replace(call, `"at":1`, `"at":-1`, 1):                                                                           "a time is from 0",
		strings.Replace(call, `"at":1`, `"at":1,"since":-1`, 1):                                                                 "a time is from 0",
		call + `{"type":"return","id":"1","at":9223372036854775807,"error":"not found"}` + "\n":                                 "h.jsonl:2: a time is from 0",
		swept + `{"event":"ship","key":"` + keyA + `","from":"PAID","to":"SHIPPED","version":3}]}` + "\n":                       `no deadline of machine order has the event "ship"`,
		swept + `{"event":"expire","from":"PENDING","to":"CANCELLED","version":2}]}` + "\n":                                     "a row that was swept has no key",
		"": linear.ErrNothing.Error(),
		`{"type":"call","id":"1","at":1,"machine":"parcel","key":"7","event":"send"}` + "\n": linear.ErrNothing.Error(),
	} {
		_, err := checked(m, []byte(text), linear.Options{})
		require.ErrorContains(t, err, says, text)
		require.LessOrEqual(t, strings.Count(err.Error(), "h.jsonl:"), 1, "the place is told once: %v", err)
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

	// A row that is there and that nobody made, while others are told of whole.
	const keyC = "00000000-0000-4000-8000-00000000000c"
	const ghost = both + `20-22 o ` + keyC + ` read | {"state":"PENDING","version":1}`
	v = whole(ghost)
	require.Equal(t, linear.Refused, v.Result())
	require.Equal(t, []string{keyC}, v.Refused)
	require.Contains(t, v.Findings(), "at the beginning: no row")
	v = whole("1-2 s " + keyC + ` row | {"state":"PENDING","version":1}` + "\n" + ghost)
	require.Equal(t, linear.Accepted, v.Result(), v.Findings())

	// Where the history has some rows from before it may be one more, but not where these are all.
	const other = `1-2 s 00000000-0000-4000-8000-00000000000d row | {"state":"PENDING","version":1}
		20-22 o 00000000-0000-4000-8000-00000000000d read | {"state":"PENDING","version":1}
	`
	v = whole(other + ghost)
	require.Equal(t, linear.Accepted, v.Result(), v.Findings())
	require.Equal(t, 1, v.Strangers)
	all := append(lines(t, "order", born+other+ghost), []byte(`{"type":"row","machine":"order","at":2,"gone":true}`+"\n"+`{"type":"read","machine":"order","since":20,"at":23,"gone":true}`+"\n")...)
	v, err := checked(m, all, linear.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{keyC}, v.Refused)

	// Who looked at one row says nothing of the others.
	v = judged(t, m, born+ghost, linear.Options{})
	require.Equal(t, linear.Accepted, v.Result())
	require.Equal(t, 1, v.Strangers)
}

// note is a machine with a text as its key.
const note = `
machine: note
table:
  name: notes
  key: {column: id, type: text}
  columns: {at: {type: timestamptz, optional: true}}
states:
  OPEN: {initial: true, deadline: {after: 1h, event: end}}
  DONE: {final: true}
events:
  end: {}
transitions:
  - {event: end, from: OPEN, to: DONE}
`

// A time is one, whatever its zone: that of local mean time has seconds in its offset.
func TestOffsetsWithSeconds(t *testing.T) {
	t.Parallel()
	m := machineOf(t, note)
	for at, want := range map[string]linear.Result{
		"0001-01-01T08:05:43+08:05:43":        linear.Accepted,
		"0000-12-31T16:00:00-08:00:00":        linear.Accepted,
		"0001-01-01T08:05:43.000001+08:05:43": linear.Refused,
		"0001-01-01T08:05:43+08:05":           linear.Refused,
	} {
		v := judged(t, m, `1-2 s k create {"at":"0001-01-01T00:00:00Z"} | Applied OPEN 1 | create >OPEN 1
			3-4 c k read | {"state":"OPEN","version":1,"columns":{"at":"`+at+`"}}`, linear.Options{})
		require.Equal(t, want, v.Result(), at)
	}
}

// A key may be empty: it is that of one row, and a line without a key tells of all.
func TestAnEmptyKeyIsThatOfARow(t *testing.T) {
	t.Parallel()
	m := machineOf(t, note)
	const made = `{"type":"call","id":"1","at":1,"machine":"note","key":"","event":"create","params":{"at":null}}
		{"type":"return","id":"1","at":2,"outcome":"Applied","state":"OPEN","version":1}
	`
	const other = `{"type":"call","id":"2","at":3,"machine":"note","key":"k","event":"create","params":{"at":null}}
		{"type":"return","id":"2","at":4,"outcome":"Applied","state":"OPEN","version":1}
	`
	const swept = `{"type":"call","id":"s","at":5,"machine":"note","event":"sweep"}
		{"type":"return","id":"s","at":6,"swept":[{"event":"end","key":"","from":"OPEN","to":"DONE","version":2}]}
	`
	for text, want := range map[string][]string{
		made + other + `{"type":"read","machine":"note","key":"","since":7,"at":8,"state":"OPEN","version":1}`:         nil,
		made + other + swept + `{"type":"read","machine":"note","key":"","since":7,"at":8,"state":"DONE","version":2}`: nil,
		made + other + `{"type":"read","machine":"note","key":"","since":7,"at":8,"gone":true}`:                        {""},
		other + `{"type":"read","machine":"note","key":"","since":7,"at":8,"gone":true}`:                               nil,
		other + `{"type":"read","machine":"note","since":7,"at":8,"gone":true}`:                                        {"k"},
		`{"type":"row","machine":"note","key":"","at":1,"state":"DONE","version":2}` + "\n" +
			`{"type":"read","machine":"note","key":"","since":7,"at":8,"state":"OPEN","version":1}`: {""},
	} {
		v, err := checked(m, []byte(text+"\n"), linear.Options{})
		require.NoError(t, err, text)
		require.Equal(t, want, v.Refused, text)
	}
}
