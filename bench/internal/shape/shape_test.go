package shape

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestEveryShapeTellsTheStoryAndLeavesTheSame(t *testing.T) {
	t.Parallel()
	all := All(t.Context())
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
			_, err := pool.Exec(t.Context(), s.Setup)
			require.NoError(t, err)
			left, err := story(t.Context(), pool, s, s.Silent)
			require.NoError(t, err)
			require.Contains(t, left, "fact payment_succeeded A")
			require.NoError(t, Differ(t.Context(), pool, all[0], s))
		})
	}
}

// What a shape does in a race is known: one that others should be warned of must
// not look better for a change here.
func TestRaces(t *testing.T) {
	t.Parallel()
	wrong := map[string]map[string]string{
		"update first, then the generated": {
			"the customer begins to pay": "leaves 1 1 PENDING, not 1 1 PAYING",
		},
		"lock first, judge later": {
			"the same number, another amount": "says Replayed PAID 2, not Mismatched PAID 2",
			"the same number, another order":  "says Replayed PENDING 1, not Mismatched PENDING 1",
		},
		"written by hand": {
			"the same delivery":               "says nothing moved  0, not Replayed PAID 2",
			"the same number, another amount": "says nothing moved  0, not Mismatched PAID 2",
			"the same number, another order":  "error 23505",
			"a second payment":                "says nothing moved  0, not Compensated PAID 2",
			"the customer cancels":            "says nothing moved  0, not Applied REFUNDING 3",
		},
	}
	for _, s := range All(t.Context()) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
			_, err := pool.Exec(t.Context(), s.Setup)
			require.NoError(t, err)
			for _, r := range Races() {
				got, err := r.Run(t.Context(), pool, s)
				require.NoError(t, err, r.Name)
				require.Equal(t, wrong[s.Name][r.Name], got, r.Name)
			}
		})
	}
}
