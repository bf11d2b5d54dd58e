package studio_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/needs"
	"github.com/pawl-go/pawl/internal/studio"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// browse has a browser do the checks of one kind: testdata/node/studio.mjs of package
// needs says what they have, and studio-KIND.mjs beside it what is checked. They edit
// definitions in the folder of the project.
func browse(t *testing.T, kind string, s *open) {
	t.Helper()
	cmd := needs.Node(t, "studio.mjs", kind, s.server.URL, filepath.Join(s.dir, "definitions"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// A browser that is used as people use one finds the definitions in their place, and
// follows while they are edited.
func TestDefinitionsWorkInABrowser(t *testing.T) {
	t.Parallel()
	order, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	before := strings.Replace(string(order), "{event: ship,    from: PAID,    to: SHIPPED}", "{event: ship,    from: PAID,    to: SHIPPED, emit: [order_shipped]}", 1)
	require.NotEqual(t, before, string(order))
	dir := project(t, map[string]string{
		"order.yaml": before, "lamp.yaml": lamp, "chinese.yaml": shared(t, "chinese.yaml"), "hostile.yaml": shared(t, "hostile.yaml"), "journey.yaml": journey(40),
	})
	commit(t, dir)
	broken := strings.Replace(strings.Replace(lamp, "machine: lamp", "machine: broken", 1), `to: "ON"`, `to: "GREEN"`, 1)
	for name, text := range map[string]string{"order.yaml": string(order), "broken.yaml": broken} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "definitions", name), []byte(text), 0o644))
	}
	browse(t, "definitions", watching(t, dir, studio.Options{}))
}

// The head has the most with a database and a button, and the smallest phone the least room.
func TestTheFrameWorksInABrowser(t *testing.T) {
	t.Parallel()
	order, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	word := strings.Repeat("W", 120)
	wide := strings.NewReplacer("machine: lamp", "machine: wide", `"ON": {}`, `"ON": {label: {en: `+word+`, zh: `+word+`}}`).Replace(lamp)
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	browse(t, "frame", serve(t, project(t, map[string]string{"order.yaml": string(order), "lamp.yaml": lamp, "wide.yaml": wide}), studio.Options{
		Database: pool.Config().ConnString(), Actions: []studio.Link{{Text: "Storm", URL: "http://127.0.0.1:9464/storm/token"}},
	}))
}
