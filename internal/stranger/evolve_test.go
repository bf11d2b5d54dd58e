package stranger

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

// keepAs keeps the program that was just generated beside the later ones.
func keepAs(t *testing.T, dir, program string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "gen"), func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(filepath.Join(dir, "gen"), name)
			write(t, filepath.Join(dir, program, rel), strings.ReplaceAll(read(t, name), "example.com/live/gen/", "example.com/live/"+program+"/"))
		}
		return err
	}))
	adapter := strings.ReplaceAll(read(t, "testdata/evolve/program.go.txt"), "PROGRAM", program)
	write(t, filepath.Join(dir, program+".go"), strings.ReplaceAll(adapter, "//"+program+" ", ""))
}

// evolved is a module with the programs of a lifecycle that changes: v1; v2,
// in which PAID is called SETTLED and REVIEW is retired; v2m, the same
// definition when v1 is gone; and v3, when v2 is gone too.
func evolved(t *testing.T) string {
	t.Helper()
	dir := folder(t, "example.com/live")
	v1 := read(t, "testdata/evolve/definitions/order.yaml")
	v2 := strings.NewReplacer(
		"  PAID:      {", "  SETTLED:   {was: PAID, ",
		"REVIEW:    {resting: true}", "REVIEW:    {resting: true, retired: true}",
		"  inspect: {otherwise: {replay: [REVIEW], reject: '*'}}\n", "",
		"  - {event: inspect, from: PENDING, to: REVIEW}\n", "",
		"PAID,", "SETTLED,", "PAID\n", "SETTLED\n",
	).Replace(v1)
	definition := filepath.Join(dir, "definitions/order.yaml")
	write(t, definition, v1)
	code, out := fsmgen(t, dir, "init")
	require.Zero(t, code, out)
	for _, step := range []struct {
		program, definition string
		args                []string
		says                []string
	}{
		{"v1", v1, []string{"generate"}, nil},
		{"v2", v2, []string{"generate"}, []string{
			"note: order: state SETTLED is written under its former name PAID",
			"note: order: rows may move from PENDING to REVIEW",
			"run fsmgen generate --advance",
		}},
		{"v2m", v2, []string{"generate", "--advance"}, []string{"note: order: state SETTLED is read under its former name PAID too"}},
		{"v3", v2, []string{"generate", "--advance"}, nil},
	} {
		write(t, definition, step.definition)
		code, out := fsmgen(t, dir, step.args...)
		require.Zero(t, code, out)
		for _, text := range step.says {
			require.Contains(t, out, text)
		}
		if step.says == nil {
			require.NotContains(t, out, "note:")
		}
		keepAs(t, dir, step.program)
		if step.program == "v2" { // what is pending is no difference
			code, out = fsmgen(t, dir, "generate", "--check")
			require.Zero(t, code, out)
			require.Contains(t, out, "note: order: state SETTLED")
		}
	}
	code, out = fsmgen(t, dir, "generate", "--advance")
	require.Zero(t, code, out)
	require.Contains(t, out, "nothing waits for programs of before to be gone; nothing was written")
	require.FileExists(t, filepath.Join(dir, "migrations/00005_order.sql"))
	require.NoFileExists(t, filepath.Join(dir, "migrations/00006_order.sql"))
	withWorld(t, dir, "main")
	return dir
}

// withWorld adds the load, the audit, and the program that has the steps.
func withWorld(t *testing.T, dir, main string) {
	t.Helper()
	for _, file := range []string{main, "world", "audit"} {
		write(t, filepath.Join(dir, file+".go"), read(t, "testdata/evolve/"+file+".go.txt"))
	}
}

// widened is a module with the programs of a lifecycle that gets a state between two
// others, so that an edge goes; two columns; a narrower check; and a deadline elsewhere:
// v1; w2; and w3, the same definition when v1 is gone.
func widened(t *testing.T) string {
	t.Helper()
	dir := folder(t, "example.com/live")
	v1 := read(t, "testdata/evolve/definitions/order.yaml")
	w2 := strings.NewReplacer(
		"check: total_cents > 0", "check: total_cents >= 100",
		"    payment_no:  {type: text, optional: true}\n", "    payment_no:  {type: text, optional: true}\n    label:       {type: text, optional: true}\n    tips:        {type: integer, default: 0}\n",
		"  PAID:      {deadline: {after: 10d, event: receive}}\n", "  PAID:      {}\n  PACKED:    {deadline: {after: 10d, event: receive}}\n",
		"  receive: {", "  pack:    {params: {label: text}, otherwise: {replay: [PACKED, DONE], reject: '*'}}\n  receive: {",
		"  - {event: note,    from: PAID,    to: PAID, set: {notes: notes + 1}, emit: [noted]}\n",
		"  - {event: note,    from: PAID,    to: PAID,   set: {notes: notes + 1, tips: tips + 1}, emit: [noted]}\n"+
			"  - {event: note,    from: PACKED,  to: PACKED, set: {notes: notes + 1, tips: tips + 1}, emit: [noted]}\n"+
			"  - {event: pack,    from: PAID,    to: PACKED, set: {label: '@label'}}\n",
		"  - {event: receive, from: PAID,    to: DONE}", "  - {event: receive, from: PACKED,  to: DONE}",
	).Replace(v1)
	definition := filepath.Join(dir, "definitions/order.yaml")
	write(t, definition, v1)
	code, out := fsmgen(t, dir, "init")
	require.Zero(t, code, out)
	for _, step := range []struct {
		program, definition string
		args                []string
		pending             bool
	}{
		{"v1", v1, []string{"generate"}, false},
		{"w2", w2, []string{"generate"}, true},
		{"w3", w2, []string{"generate", "--advance"}, false},
	} {
		write(t, definition, step.definition)
		code, out := fsmgen(t, dir, step.args...)
		require.Zero(t, code, out)
		require.Equal(t, step.pending, strings.Contains(out, "run fsmgen generate --advance"), out)
		keepAs(t, dir, step.program)
	}
	require.FileExists(t, filepath.Join(dir, "migrations/00004_order.sql"))
	require.NoFileExists(t, filepath.Join(dir, "migrations/00005_order.sql"))
	withWorld(t, dir, "widened")
	return dir
}

// Programs of before and after serve one table at the same time, under load,
// while each migration is applied, and every answer is true. With the new name
// given at once, the same load finds answers that are not.
func TestALifecycleChangesWhileItIsServed(t *testing.T) {
	t.Parallel()
	dir := evolved(t)
	serve := served(t, dir)
	kept, url := serve()
	require.Equal(t, "v1 applied true replayed true compensated true\n"+
		"v2 applied true replayed true compensated true\n"+
		"v2m applied true replayed true compensated true\n"+
		"v3 applied true replayed true compensated true\n"+
		"enough calls: true failures: 0\n", kept)
	require.NotContains(t, inOrder(t, dir, url), "former name")

	naive, _ := serve("naive")
	t.Logf("the naive way:\n%s", naive)
	require.Contains(t, naive, "FAILURE")
	require.NotContains(t, naive, "failures: 0\n")
}

// served builds the program in dir, and returns what runs it on a database of its own and
// returns what it printed, and the database.
func served(t *testing.T, dir string) (serve func(args ...string) (out, url string)) {
	t.Helper()
	program := filepath.Join(dir, "served")
	build := exec.Command("go", "build", "-mod=mod", "-o", program, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return func(args ...string) (string, string) {
		t.Helper()
		url := testdb.URL(t)
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "DATABASE_URL="+url)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out), url
	}
}

// The same for all that a lifecycle gets and loses otherwise. A program of before is told
// that it does not know the new state, as the page says; nothing else fails, and with the
// last migration at once, much does.
func TestALifecycleWidensWhileItIsServed(t *testing.T) {
	t.Parallel()
	dir := widened(t)
	serve := served(t, dir)
	kept, url := serve()
	require.Equal(t, "v1 applied true replayed true compensated true\n"+
		"w2 applied true replayed true compensated true\n"+
		"w3 applied true replayed true compensated true\n"+
		"enough calls: true failures: 0\n"+
		"rows in a state that v1 does not know: true\n", kept)
	inOrder(t, dir, url)

	naive, _ := serve("naive")
	t.Logf("the naive way:\n%s", naive)
	require.Contains(t, naive, "FAILURE")
	require.NotContains(t, naive, "failures: 0\n")
}
