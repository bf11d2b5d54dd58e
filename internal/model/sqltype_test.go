package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
)

func TestParseType(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]model.Type{
		"text":                     {SQL: "text", Base: "text", Kind: model.KindText},
		"varchar(20)":              {SQL: "character varying(20)", Base: "character varying", Kind: model.KindText, Length: 20},
		"character varying ( 20 )": {SQL: "character varying(20)", Base: "character varying", Kind: model.KindText, Length: 20},
		"UUID":                     {SQL: "uuid", Base: "uuid", Kind: model.KindUUID},
		"int2":                     {SQL: "smallint", Base: "smallint", Kind: model.KindInt16},
		"int":                      {SQL: "integer", Base: "integer", Kind: model.KindInt32},
		"int4":                     {SQL: "integer", Base: "integer", Kind: model.KindInt32},
		"int8":                     {SQL: "bigint", Base: "bigint", Kind: model.KindInt64},
		"bool":                     {SQL: "boolean", Base: "boolean", Kind: model.KindBool},
		"numeric":                  {SQL: "numeric", Base: "numeric", Kind: model.KindNumeric},
		"decimal(12)":              {SQL: "numeric(12,0)", Base: "numeric", Kind: model.KindNumeric, Precision: 12},
		"numeric(12, 2)":           {SQL: "numeric(12,2)", Base: "numeric", Kind: model.KindNumeric, Precision: 12, Scale: 2},
		"float8":                   {SQL: "double precision", Base: "double precision", Kind: model.KindFloat64},
		"double  precision":        {SQL: "double precision", Base: "double precision", Kind: model.KindFloat64},
		"timestamptz":              {SQL: "timestamptz", Base: "timestamptz", Kind: model.KindTime},
		"timestamp with time zone": {SQL: "timestamptz", Base: "timestamptz", Kind: model.KindTime},
		"date":                     {SQL: "date", Base: "date", Kind: model.KindDate},
		"jsonb":                    {SQL: "jsonb", Base: "jsonb", Kind: model.KindJSON},
		"bytea":                    {SQL: "bytea", Base: "bytea", Kind: model.KindBytes},
	} {
		got, ok := model.ParseType(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
}

func TestParseTypeRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "txt", "varchar", "varchar(0)", "varchar(10485761)", "varchar(1,2)", "numeric(0)", "numeric(1001)", "numeric(2,3)",
		"text(3)", "bigint(20)", "text[]", "timestamp", "json", "numeric(", "numeric()", "text; drop", "varchar(99999999999)",
	} {
		got, ok := model.ParseType(text)
		require.False(t, ok, text)
		require.Zero(t, got, text)
	}
}

func TestTypeNamesAreRead(t *testing.T) {
	t.Parallel()
	require.IsIncreasing(t, model.TypeNames())
	for _, name := range model.TypeNames() {
		_, plain := model.ParseType(name)
		_, sized := model.ParseType(name + "(3)")
		require.True(t, plain || sized, name)
	}
}

// A key needs one text and a Go value that == compares.
func TestKeyable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"text": true, "varchar(20)": true, "uuid": true, "smallint": true, "integer": true, "bigint": true, "boolean": true, "date": true,
		"numeric(20,0)": false, "numeric": false, "timestamptz": false, "bytea": false, "jsonb": false, "double precision": false,
	} {
		typ, ok := model.ParseType(text)
		require.True(t, ok, text)
		require.Equal(t, want, typ.Keyable(), text)
	}
}
