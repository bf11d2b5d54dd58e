package tokenredis_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/token"
	"github.com/pawl-go/pawl/fsm/token/tokenredis"
)

// The environment variables of the child process, which dies at a point.
const (
	childPoint = "PAWL_TOKEN_FAULT"
	childRedis = "PAWL_TOKEN_REDIS"
	childURL   = "PAWL_TOKEN_DATABASE"
	childToken = "PAWL_TOKEN"
)

// A process that is killed at any point leaves a token that is good, or one that
// replays what it did.
func TestKilledProcess(t *testing.T) {
	if spec := os.Getenv(childPoint); spec != "" {
		useInChild(t, spec)
		return
	}
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	for _, tc := range []struct {
		point fault.Point
		used  bool
	}{
		{tokenredis.PointReserved, false},
		{token.PointReserved, false},
		{token.PointUsed, true},
	} {
		t.Run(string(tc.point), func(t *testing.T) {
			t.Parallel()
			s := open(t, lasting)
			tok := s.issue()
			child := exec.CommandContext(t.Context(), self, "-test.run=^TestKilledProcess$")
			child.Env = append(os.Environ(), childPoint+"="+string(tc.point)+"=kill", childRedis+"="+s.redis.Addr,
				childURL+"="+s.pool.Config().ConnString(), childToken+"="+tok.Reveal())
			var ended *exec.ExitError
			require.ErrorAs(t, child.Run(), &ended)
			status, ok := ended.Sys().(syscall.WaitStatus)
			require.True(t, ok)
			require.Equal(t, syscall.SIGKILL, status.Signal())
			require.NotEmpty(t, s.field(tok, "owner"), "its reservation is left")
			s.use(s.Store, tok, tc.used)
			require.Equal(t, 1, s.effects())
		})
	}
}

func useInChild(t *testing.T, spec string) {
	pool, err := pgxpool.New(t.Context(), os.Getenv(childURL))
	require.NoError(t, err)
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{os.Getenv(childRedis)}, DisableCache: true})
	require.NoError(t, err)
	store, err := tokenredis.New(client, pool, tokenredis.Config{Lease: 100 * time.Millisecond, Call: 10 * time.Second})
	require.NoError(t, err)
	require.NoError(t, fault.Arm(spec))
	_, err = store.Use(t.Context(), token.From(os.Getenv(childToken)), ann, order42, works("paid"))
	require.NoError(t, err)
}
