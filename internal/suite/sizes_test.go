package suite_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/suite"
)

// The sizes were worked out by hand and by exhaustive search, not by this
// package. The race pairs of all but m7 follow from its definition: Σ out·(out+1)/2.
func TestSizesAreThoseWorkedOutByHand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ machine, want string }{
		{"m1_clock", `{"machine":"m1_clock","states":4,"events":4,"cells":16,"transitions":6,"null_cells":10,"switch1":10,"switch2":16,"nplus_leaves":3,"nplus_steps":7,"nplus_sneak":13,"tour_closed":6,"tour_open":6,"walks":1,"walk_steps":6,"race_pairs":8}`},
		{"m3_exercise", `{"machine":"m3_exercise","states":5,"events":6,"cells":30,"transitions":6,"null_cells":24,"switch1":8,"switch2":11,"nplus_leaves":3,"nplus_steps":11,"nplus_sneak":27,"tour_closed":null,"tour_open":7,"walks":1,"walk_steps":7,"race_pairs":8}`},
		{"m4_lockout", `{"machine":"m4_lockout","states":5,"events":2,"cells":10,"transitions":6,"null_cells":4,"switch1":4,"switch2":2,"nplus_leaves":4,"nplus_steps":9,"nplus_sneak":8,"tour_closed":null,"tour_open":null,"walks":4,"walk_steps":9,"race_pairs":9}`},
		{"m6_select_box", `{"machine":"m6_select_box","states":2,"events":3,"cells":6,"transitions":3,"null_cells":3,"switch1":4,"switch2":6,"nplus_leaves":2,"nplus_steps":4,"nplus_sneak":5,"tour_closed":4,"tour_open":4,"walks":1,"walk_steps":4,"race_pairs":4}`},
		{"m7_payment", `{"machine":"m7_payment","states":8,"events":7,"cells":56,"transitions":10,"null_cells":46,"switch1":9,"switch2":8,"nplus_leaves":7,"nplus_steps":17,"nplus_sneak":53,"tour_closed":null,"tour_open":null,"walks":6,"walk_steps":14,"race_pairs":18}`},
		{"m10_lamp", `{"machine":"m10_lamp","states":2,"events":2,"cells":4,"transitions":2,"null_cells":2,"switch1":2,"switch2":2,"nplus_leaves":1,"nplus_steps":2,"nplus_sneak":3,"tour_closed":2,"tour_open":2,"walks":1,"walk_steps":2,"race_pairs":2}`},
		// One state: its creation is the one way, and a tour of nothing is done at once.
		{"lonely", `{"machine":"lonely","states":1,"events":0,"cells":0,"transitions":0,"null_cells":0,"switch1":0,"switch2":0,"nplus_leaves":1,"nplus_steps":0,"nplus_sneak":1,"tour_closed":0,"tour_open":0,"walks":0,"walk_steps":0,"race_pairs":0}`},
		// What no row reaches has cells, sequences and races; ways and walks leave it out.
		{"island", `{"machine":"island","states":5,"events":3,"cells":15,"transitions":5,"null_cells":10,"switch1":1,"switch2":0,"nplus_leaves":2,"nplus_steps":3,"nplus_sneak":12,"tour_closed":null,"tour_open":null,"walks":2,"walk_steps":3,"race_pairs":7}`},
		// open: give 2; a/b: give 2, c+d 2; in transit: back 1.
		{"refunds", `{"machine":"refunds","states":4,"events":3,"cells":12,"transitions":7,"null_cells":8,"switch1":15,"switch2":29,"nplus_leaves":5,"nplus_steps":10,"nplus_sneak":18,"tour_closed":null,"tour_open":null,"walks":2,"walk_steps":8,"race_pairs":5}`},
	} {
		have, err := json.Marshal(suite.SizesOf(machine(t, c.machine)))
		require.NoError(t, err)
		require.Equal(t, c.want, string(have), c.machine)
	}
}

func TestACountThatIsTooLargeIsTheLargest(t *testing.T) {
	t.Parallel()
	m := parse(t, "dense.yaml", dense(12, 40))
	s := suite.SizesOf(m)
	require.Equal(t, int64(12*40), s.Transitions)
	require.Equal(t, int64(12*40*40), s.Switch1)
	_, err := suite.Make(m, "n-switch=10", 1)
	var limit *suite.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, int64(12*math.Pow(40, 11)/1e18), limit.Cases/1e18) // 5e18 still fits
	_, err = suite.Make(parse(t, "dense.yaml", dense(60, 60)), "n-switch=10", 1)
	require.ErrorAs(t, err, &limit)
	require.Equal(t, int64(math.MaxInt64), limit.Cases)
	require.Equal(t, int64(math.MaxInt64), limit.Steps)
}
