package grants

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wholeVariable asks for the tests of all machines; without it one is enough.
const wholeVariable = "PAWL_TEST_GRANTS"

// The generated tests of machines, compiled with the gen/db that calls functions, and
// run with every call made in the service's role, which may do nothing but call them.
// Cells, races, batches, sweeps, creations: each answer and each row written must be
// what the definition says, as it is with statements.
func TestTheMatrixThroughFunctions(t *testing.T) {
	t.Parallel()
	machines := []string{"payment"}
	if os.Getenv(wholeVariable) != "" {
		machines = []string{"article", "order", "payment", "refund"}
	}
	s := open(t, functions)
	s.run(s.named("CREATE ROLE pawl_other IN ROLE pawl_app, pawl_support")) // the tests correct too
	folder := t.TempDir()
	overlay := s.overlay(folder)
	after := filepath.Join(folder, "roles.sql")
	// Its database is another one, and the roles are there: they are the server's.
	require.NoError(t, os.WriteFile(after, []byte(s.file()), 0o600))
	for _, machine := range machines {
		t.Run(machine, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-overlay", overlay, "./gen/"+machine)
			cmd.Dir = root
			cmd.Env = append(os.Environ(),
				"PAWL_TEST_DATABASE_URL="+s.admin(), "PAWL_TEST_AFTER="+after, "PAWL_TEST_ROLE="+s.prefix+"other")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.NotContains(t, string(out), "no tests")
		})
	}
}

// admin is the URL of the stage's database.
func (s *stage) admin() string { return s.pool.Config().ConnString() }

// overlay has the compiler take this form's gen/db.
func (s *stage) overlay(folder string) string {
	s.t.Helper()
	replace := map[string]string{}
	here, err := filepath.Abs(root)
	require.NoError(s.t, err)
	for path, content := range s.gen.files {
		if !strings.Contains(content, "SELECT * FROM public.fsm_") {
			continue
		}
		file := filepath.Join(folder, filepath.Base(path))
		require.NoError(s.t, os.WriteFile(file, []byte(content), 0o600))
		replace[filepath.Join(here, filepath.FromSlash(path))] = file
	}
	require.Len(s.t, replace, 4)
	list, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(s.t, err)
	file := filepath.Join(folder, "overlay.json")
	require.NoError(s.t, os.WriteFile(file, list, 0o600))
	return file
}
