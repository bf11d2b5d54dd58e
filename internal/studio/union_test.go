package studio_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/studio"
)

// commit makes a repository of a project, with what it has as its first commit.
func commit(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is missing")
		}
		t.Skip("git is missing")
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "first <b>&"}, {"tag", "v1"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

const door = `machine: door
states:
  OPEN: {initial: true, deadline: {after: 1h, event: lapse}}
  SHUT: {}
  LOCKED: {}
  GONE: {final: true}
events:
  close: {expect: version}
  open: {expect: version}
  lock: {expect: version}
  remove: {}
  lapse: {}
transitions:
  - {event: close, from: OPEN, to: SHUT}
  - {event: lapse, from: OPEN, to: SHUT}
  - {event: open, from: SHUT, to: OPEN}
  - {event: lock, from: SHUT, to: LOCKED}
  - {event: open, from: LOCKED, to: SHUT}
  - {event: remove, from: [OPEN, SHUT, LOCKED], to: GONE}
`

// later has another state, another deadline, one state less and one renamed.
const later = `machine: door
states:
  OPEN: {initial: true, deadline: {after: 2h, event: lapse}}
  CLOSED: {was: SHUT}
  AJAR: {}
  GONE: {final: true}
events:
  close: {expect: version}
  open: {expect: version}
  remove: {}
  lapse: {}
transitions:
  - {event: close, from: OPEN, to: AJAR}
  - {event: close, from: AJAR, to: CLOSED}
  - {event: lapse, from: OPEN, to: CLOSED}
  - {event: open, from: CLOSED, to: OPEN}
  - {event: remove, from: [OPEN, CLOSED, AJAR], to: GONE}
`

func TestADifferenceIsDrawn(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"door.yaml": door, "lamp.yaml": lamp})
	commit(t, dir)
	s := serve(t, dir, studio.Options{})
	root := s.parsed("/m/door/diff")
	require.Contains(t, said(root), "Nothing has changed.")
	require.Empty(t, states(root), "then there is nothing to draw")

	s.write("door.yaml", later)
	require.NotContains(t, said(s.parsed("/m/door")), "has errors")
	for _, path := range []string{"/m/door/diff", "/m/door/diff?since=v1", "/m/door/diff?since=HEAD&lang=en"} {
		root := s.parsed(path)
		require.Equal(t, []string{"AJAR"}, marked(root, "pawl-state", "added"), path)
		require.ElementsMatch(t, []string{"OPEN", "CLOSED"}, marked(root, "pawl-state", "changed"), "another deadline, another name")
		require.Equal(t, []string{"LOCKED"}, marked(root, "pawl-state", "removed"), path)
		require.ElementsMatch(t, []string{"close", "close", "remove"}, marked(root, "pawl-arc", "added"), path)
		require.ElementsMatch(t, []string{"close", "lock", "open", "remove"}, marked(root, "pawl-arc", "removed"), path)
		require.Contains(t, said(root), "first <b>&", "the commits are there to choose")
		require.NotContains(t, said(root), "[else]", "what was the only way of its cell is no other way")
		require.Contains(t, said(root), "states.AJAR")
	}
	other := said(s.parsed("/m/lamp/diff"))
	require.Contains(t, other, "Nothing has changed.")
	require.Contains(t, other, "Other machines")
}

// A transition that does something else than it did, and one whose way is asked for
// in another way.
func TestATransitionThatDoesSomethingElseHasChanged(t *testing.T) {
	t.Parallel()
	order, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	dir := project(t, map[string]string{"order.yaml": string(order)})
	commit(t, dir)
	s := serve(t, dir, studio.Options{})
	text := strings.Replace(string(order), "sql: total_cents = @paid_cents", "sql: total_cents <= @paid_cents", 1)
	text = strings.Replace(text, "{event: ship,    from: PAID,    to: SHIPPED}", "{event: ship,    from: PAID,    to: SHIPPED, emit: [order_shipped]}", 1)
	require.NotEqual(t, string(order), text)
	s.write("order.yaml", text)
	root := s.parsed("/m/order/diff")
	require.ElementsMatch(t, []string{"payment_succeeded", "payment_succeeded", "ship"}, marked(root, "pawl-arc", "changed"))
	require.Empty(t, marked(root, "pawl-arc", "added"))
	require.Empty(t, marked(root, "pawl-arc", "removed"))
}

func TestWhatCannotBeComparedSaysWhy(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"lamp.yaml": lamp, "broken.yaml": "machine: [\n"})
	s := serve(t, dir, studio.Options{})
	require.Contains(t, said(s.parsed("/m/lamp/diff")), "The project is in no git repository")
	commit(t, dir)
	require.Contains(t, said(s.parsed("/m/lamp/diff")), "HEAD has definitions with errors, so nothing was compared: definitions/broken.yaml")
	for _, rev := range []string{"none", "--help", "HEAD:definitions", ":", "v1^{tree}", "-", "%00", "HEAD~9", strings.Repeat("x", 300)} {
		text := said(s.parsed("/m/lamp/diff?since=" + strings.ReplaceAll(rev, "^", "%5E")))
		require.Regexp(t, "has no revision|too long", text, rev)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "definitions", "broken.yaml")))
	s.write("new.yaml", strings.Replace(lamp, "machine: lamp", "machine: fresh", 1))
	require.Contains(t, said(s.parsed("/m/fresh/diff?since=HEAD")), "HEAD has definitions with errors")
}

func TestAMachineThatIsNewSaysSo(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"lamp.yaml": lamp, "gone.yaml": strings.Replace(lamp, "machine: lamp", "machine: gone", 1)})
	commit(t, dir)
	s := serve(t, dir, studio.Options{})
	require.NoError(t, os.Remove(filepath.Join(dir, "definitions", "gone.yaml")))
	s.write("fresh.yaml", strings.Replace(lamp, "machine: lamp", "machine: fresh", 1))
	text := said(s.parsed("/m/fresh/diff"))
	require.Contains(t, text, "The whole machine is new:")
	require.Contains(t, text, "gone")
}
