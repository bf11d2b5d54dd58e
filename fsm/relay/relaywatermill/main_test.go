package relaywatermill_test

import (
	"testing"

	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }
