package suite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/suite"
)

func TestEverySuiteHasItsNameAndOthers(t *testing.T) {
	t.Parallel()
	m := machine(t, "m10_lamp")
	for asked, want := range map[string]string{
		"0-switch": "0-switch", "n-switch=0": "0-switch", "n-switch=1": "1-switch", "2-switch": "n-switch=2", "n-switch=10": "n-switch=10",
		"tour=open": "tour", "tour=closed": "tour=closed",
	} {
		s, err := suite.Make(m, asked, 0)
		require.NoError(t, err)
		require.Equal(t, want, s.Name, asked)
		require.Same(t, m, s.Machine)
	}
	for _, name := range suite.Names() {
		if name == "n-switch=K" {
			continue
		}
		s, err := suite.Make(m, name, 0)
		require.NoError(t, err)
		require.Equal(t, name, s.Name)
	}
}

func TestAnUnknownSuiteIsNamedWithTheNearest(t *testing.T) {
	t.Parallel()
	for asked, nearest := range map[string]string{
		"al-cells": "all-cells", "walk": "walks", "n-plsu": "n-plus", "": "", "everything": "",
		"n-switch": "n-switch=K", "n-switch=": "n-switch=K", "n-switch=x": "n-switch=K", "n-switch=-1": "n-switch=K", "n-switch=11": "n-switch=K", "n-switch=01": "n-switch=K",
		"+1-switch": "1-switch", "tour=close": "tour=closed", "1-Switch": "1-switch",
	} {
		_, err := suite.Make(machine(t, "m10_lamp"), asked, 0)
		var unknown *suite.UnknownSuiteError
		require.ErrorAs(t, err, &unknown, asked)
		require.Equal(t, nearest, unknown.Nearest, asked)
		require.Equal(t, suite.Names(), unknown.Names)
		require.Contains(t, err.Error(), "n-switch=K, n-plus")
		require.Equal(t, nearest == "n-switch=K", strings.Contains(err.Error(), "n-switch wants a whole number from 0 to 10, as in n-switch=2"), asked)
	}
}

func TestASuiteAboveTheLimitIsNotMadeInPart(t *testing.T) {
	t.Parallel()
	m := machine(t, "m7_payment")
	for name, cases := range map[string]int{"0-switch": 10, "1-switch": 9, "n-switch=2": 8, "n-plus": 53, "walks": 6} {
		s, err := suite.Make(m, name, cases)
		require.NoError(t, err)
		require.Len(t, s.Cases, cases)
		s, err = suite.Make(m, name, cases-1)
		var limit *suite.LimitError
		require.ErrorAs(t, err, &limit)
		require.Nil(t, s)
		require.EqualValues(t, cases, limit.Cases)
		require.EqualError(t, err, fmt.Sprintf("the suite %s would have %d cases, more than the limit of %d", name, cases, cases-1))
	}
}

// One case may be as long as many: its steps are limited too.
func TestTheLimitCountsStepsToo(t *testing.T) {
	t.Parallel()
	m := parse(t, "dense.yaml", dense(4, 4))
	_, err := suite.Make(m, "tour", 1)
	require.EqualError(t, err, "the suite tour would have 16 steps, more than 10 for each of the 1 cases of the limit")
	_, err = suite.Make(m, "tour", 2)
	require.NoError(t, err)
}
