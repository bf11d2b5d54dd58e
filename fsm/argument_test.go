package fsm

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
)

func TestIdentityText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, problem string }{
		{"one byte", "p", ""},
		{"a blank", " ", ""},
		{"1024 bytes", strings.Repeat("p", 1024), ""},
		{"1024 bytes in 256 characters", strings.Repeat("😀", 256), ""},
		{"empty", "", "is empty"},
		{"1025 bytes", strings.Repeat("p", 1025), "has 1025 bytes, more than 1024"},
		{"1026 bytes in 342 characters", strings.Repeat("款", 342), "has 1026 bytes, more than 1024"},
		{"NUL", "secret\x00", "holds a control character"},
		{"NUL alone", "\x00", "holds a control character"},
		{"cut character", "secret\xe6\xac", "is not UTF-8"},
		{"surrogate", "secret\xed\xa0\x80", "is not UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := IdentityText(pay, "payment_no", c.value)
			if c.problem == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrArgument)
			// The whole text is given, so no part of the value is in it.
			require.EqualError(t, err, "order pay: bad argument: payment_no "+c.problem)
		})
	}
}

func TestCorrectionNeedsActorAndReason(t *testing.T) {
	t.Parallel()
	correct := &EventInfo{Machine: "order", Event: "correct"}
	require.NoError(t, Correction{Actor: "ann", Reason: "ticket 7"}.Check(correct))
	for _, c := range []struct {
		in   Correction
		text string
	}{
		{Correction{Reason: "ticket 7"}, "order correct: bad argument: a correction needs an actor"},
		{Correction{Actor: " \t", Reason: "ticket 7"}, "order correct: bad argument: a correction needs an actor"},
		{Correction{Actor: "ann"}, "order correct: bad argument: a correction needs a reason"},
		{Correction{Actor: "ann", Reason: "\n"}, "order correct: bad argument: a correction needs a reason"},
	} {
		err := c.in.Check(correct)
		require.ErrorIs(t, err, ErrArgument)
		require.EqualError(t, err, c.text)
	}
}

func TestAnIdentityOfSeveralTextsIsBoundedAsAWhole(t *testing.T) {
	t.Parallel()
	e := &EventInfo{Machine: "m", Event: "e"}
	half := strings.Repeat("a", MaxIdentity/2)
	require.NoError(t, IdentitySize(e))
	require.NoError(t, IdentitySize(e, half, half))
	err := IdentitySize(e, half, half, "b")
	require.ErrorIs(t, err, ErrArgument)
	require.NotContains(t, err.Error(), "aaa")
}

func TestUUIDTexts(t *testing.T) {
	t.Parallel()
	e := &EventInfo{Machine: "m", Event: "e"}
	for _, good := range []string{
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
		"a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
	} {
		require.NoError(t, UUIDText(e, "order_id", good))
	}
	for _, bad := range []string{"", "{}", "{", "x", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111", "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "a0eebc99 9c0b-4ef8-bb6d-6bb9bd380a11"} {
		err := UUIDText(e, "order_id", bad)
		require.ErrorIs(t, err, ErrArgument, "%q", bad)
		require.EqualError(t, err, "m e: bad argument: order_id is no uuid")
	}
}

func TestNumbersAreFinite(t *testing.T) {
	t.Parallel()
	e := &EventInfo{Machine: "m", Event: "e"}
	for _, good := range []float64{0, -1.5, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		require.NoError(t, FiniteFloat(e, "ratio", good))
	}
	for _, good := range []pgtype.Numeric{{}, {Int: big.NewInt(150), Exp: -2, Valid: true}} {
		require.NoError(t, FiniteNumeric(e, "ratio", good))
	}
	const want = "m e: bad argument: ratio is not a finite number"
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		err := FiniteFloat(e, "ratio", bad)
		require.ErrorIs(t, err, ErrArgument)
		require.EqualError(t, err, want)
	}
	for _, bad := range []pgtype.Numeric{
		{NaN: true, Valid: true}, {InfinityModifier: pgtype.Infinity, Valid: true}, {InfinityModifier: pgtype.NegativeInfinity, Valid: true},
	} {
		err := FiniteNumeric(e, "ratio", bad)
		require.ErrorIs(t, err, ErrArgument)
		require.EqualError(t, err, want)
	}
}
