package command

import (
	"bytes"
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCanonicalJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{` { "b" : [ true , null , false ] , "a" : { } } `, `{"a":{},"b":[true,null,false]}`},
		{`[]`, `[]`},
		{`"x"`, `"x"`},
		// The order of names and the escapes are the examples of RFC 8785, 3.2.3 and 3.2.2.
		{
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
				`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis",` +
				`"€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
		},
		{`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`, `"€$\u000f\nA'B\"\\\\\"/"`},
		{`"\b\t\n\f\r\u007f\u0000"`, `"\b\t\n\f\r` + "\u007f" + `\u0000"`},
		{`{"b":[{"z":1,"y":{"b":1,"a":2}},{"d":{"f":0,"e":0}}],"a":{"c":1,"b":2}}`, `{"a":{"b":2,"c":1},"b":[{"y":{"a":2,"b":1},"z":1},{"d":{"e":0,"f":0}}]}`},
		{`{"a":{"d":1,"c":2},"b":{"f":1,"e":2}}`, `{"a":{"c":2,"d":1},"b":{"e":2,"f":1}}`},
		{`{"ab":1,"a":{},"":0,"b":2}`, `{"":0,"a":{},"ab":1,"b":2}`},
		{`"\\ud800"`, `"\\ud800"`}, // a backslash, and then a text
		// Numbers are what they say, exactly.
		{`[1,1.0,1.00,10e-1,0.1E1,1e0,1e+0]`, `[1,1,1,1,1,1,1]`},
		{`[0,-0,0.0,0e5,-0.00E-7]`, `[0,0,0,0,0]`},
		{`[100,1e2,-1.50,0.010]`, `[1e2,1e2,-15e-1,1e-2]`},
		{`[9007199254740992,9007199254740993]`, `[9007199254740992,9007199254740993]`},
		{`[0.1,0.10000000000000001]`, `[1e-1,10000000000000001e-17]`},
		{`[1e400,-1e999999999]`, `[1e400,-1e999999999]`},
	} {
		got, err := canonicalJSON([]byte(tc.in))
		require.NoError(t, err, tc.in)
		require.Equal(t, tc.want, string(got), tc.in)
		again, err := canonicalJSON(got)
		require.NoError(t, err, tc.in)
		require.Equal(t, tc.want, string(again), "canonical is canonical")
	}
}

// However deep a long text lies, it is copied a few times and not once for each level:
// what a request costs is in proportion to what was sent. (Not parallel: it counts all
// that the process allocates.)
func TestCanonicalJSONIsLinear(t *testing.T) {
	long := `"` + strings.Repeat("x", 1<<20) + `"`
	for name, level := range map[string][2]string{
		"objects":              {`{"a":`, `}`},
		"objects to be sorted": {`{"b":`, `,"a":1}`},
		"arrays":               {`[`, `]`},
	} {
		text := []byte(strings.Repeat(level[0], maxDepth-1) + long + strings.Repeat(level[1], maxDepth-1))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := canonicalJSON(text)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16*len(text)), name)
	}
}

func TestNotProperJSON(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"nothing":               ``,
		"cut":                   `{"a":`,
		"two values":            `{} {}`,
		"comma at the end":      `[1,]`,
		"name told twice":       `{"a":1,"a":1}`,
		"told twice, escaped":   `{"a":1,"b":0,"\u0061":1}`,
		"told in two cases":     `{"amount":1,"x":0,"Amount":1000}`,
		"told twice, deep":      `[{"x":{"a":1,"a":2}}]`,
		"no UTF-8":              "\"\xff\"",
		"half a pair":           `"\ud83d"`,
		"half a pair, second":   `"\ude00"`,
		"half a pair, twice":    `"\ud83d\ud83d"`,
		"half a pair, a name":   `{"\ud83d x":1}`,
		"NaN":                   `NaN`,
		"exponent of 20 digits": `1e99999999999999999999`,
		"513 deep":              strings.Repeat("[", 513) + strings.Repeat("]", 513),
		"a million deep":        strings.Repeat("[", 1_000_000),
	} {
		_, err := canonicalJSON([]byte(in))
		require.ErrorIs(t, err, ErrBody, name)
	}
	_, err := canonicalJSON([]byte(strings.Repeat("[", 512) + strings.Repeat("]", 512)))
	require.NoError(t, err)
}

// Two names are one where encoding/json takes them for one, and only there: a decoder
// reads the last of both into a field, so that two orders would be two requests.
func TestNamesInTwoCases(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{
		{"amount", "Amount"}, {"amount", "AMOUNT"}, {"k", "\u212a"}, {"s", "\u017f"}, {"\u00df", "\u1e9e"}, {"\u03c3", "\u03c2"},
		{"\u01c4", "\u01c6"}, {"\u00e9", "\u00c9"}, {"\U00010428", "\U00010400"},
		{"i", "\u0131"}, {"\u0130", "i"}, {"ss", "\u00df"}, {"amount", "amounts"}, {"a_b", "ab"}, {"\ufb01", "fi"},
	} {
		field := reflect.StructOf([]reflect.StructField{{Name: "Field", Type: reflect.TypeFor[int](), Tag: reflect.StructTag(`json:"` + names[0] + `"`)}})
		into := reflect.New(field)
		require.NoError(t, json.Unmarshal([]byte(`{"`+names[1]+`":1}`), into.Interface()))
		one := into.Elem().Field(0).Int() == 1

		for _, order := range [][2]string{names, {names[1], names[0]}} {
			_, err := canonicalJSON([]byte(`[{"` + order[0] + `":1,"x":0,"` + order[1] + `":1000}]`))
			if one {
				require.ErrorIs(t, err, ErrBody, "%q", names)
			} else {
				require.NoError(t, err, "%q", names)
			}
		}
	}
}

// Whatever comes: what is canonical stays as it is, says the same to a decoder,
// and nothing panics.
func FuzzCanonicalJSON(f *testing.F) {
	for _, seed := range []string{`{"b":[1,2.50],"a":"\u00e9\n"}`, `"\ud83d\ude00"`, `-0.0e-3`, `[[{}]]`, `{"a":1,"a":2}`, `"\ud83d`, `1e5`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := canonicalJSON(in)
		if err != nil {
			return
		}
		again, err := canonicalJSON(got)
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))
		var before, after any
		require.Equal(t, json.Unmarshal(in, &before) == nil, json.Unmarshal(got, &after) == nil)
		require.Equal(t, before, after)
		require.False(t, bytes.ContainsAny(got, "\n\t"))
	})
}
