package stranger

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/cli"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// folder makes a module of its own that uses this one from where it stands,
// with the versions that this one uses, so that nothing is downloaded.
func folder(t *testing.T, module string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	text := strings.Replace(string(mod), "module github.com/pawl-go/pawl", "module "+module, 1)
	text += "\nrequire github.com/pawl-go/pawl v0.0.0\n\nreplace github.com/pawl-go/pawl => " + root + "\n"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), text)
	write(t, filepath.Join(dir, "go.sum"), string(sum))
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(content)
}

// fsmgen runs a verb in dir and returns its exit code and what it printed.
func fsmgen(t *testing.T, dir string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := cli.Run(context.Background(), append(args, "-C", dir), &out, &out)
	return code, out.String()
}

// run builds and runs the program in dir and returns what it printed.
func run(t *testing.T, dir, url string) string {
	t.Helper()
	cmd := exec.Command("go", "run", "-mod=mod", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url, "GOFLAGS=", "GOPROXY=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// inOrder audits what a program has left, finds nothing, and returns what was
// said. The programs' clock may stand, so nothing is late.
func inOrder(t *testing.T, dir, url string) string {
	t.Helper()
	code, out := fsmgen(t, dir, "audit", "--database", url, "--overdue", "1000000h", "--outbox-age", "1000000h")
	require.Zero(t, code, out)
	require.Contains(t, out, "nothing found")
	require.NotContains(t, out, " 0 rows")
	return out
}

func TestAnEmptyFolderPublishesAnArticle(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/news")
	code, out := fsmgen(t, dir, "init")
	require.Zero(t, code, out)
	code, out = fsmgen(t, dir, "generate")
	require.Zero(t, code, out)
	code, out = fsmgen(t, dir, "generate", "--check")
	require.Zero(t, code, out)
	write(t, filepath.Join(dir, "main.go"), read(t, "testdata/news/main.go.txt"))
	url := testdb.URL(t)
	require.Equal(t, "Applied PUBLISHED 2\nReplayed PUBLISHED 2\n", run(t, dir, url))
	inOrder(t, dir, url)
}

// The README shows this very program, so what it shows works.
func TestTheReadmeShowsTheArticleProgram(t *testing.T) {
	t.Parallel()
	require.Contains(t, read(t, "../../README.md"), read(t, "testdata/news/main.go.txt"))
}

// The design's sample is the contract of the language: it lints clean,
// generates, and each of its events can be fired.
func TestTheSampleServesEveryEvent(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/shop")
	write(t, filepath.Join(dir, "definitions/order.yaml"), read(t, "testdata/shop/definitions/order.yaml"))
	code, out := fsmgen(t, dir, "lint")
	require.Zero(t, code, out)
	require.Contains(t, out, "1 machine checked, 0 errors, 0 warnings")
	code, out = fsmgen(t, dir, "init")
	require.Zero(t, code, out)
	require.NoFileExists(t, filepath.Join(dir, "definitions/article.yaml"), "there is a definition already")
	code, out = fsmgen(t, dir, "generate")
	require.Zero(t, code, out)
	write(t, filepath.Join(dir, "main.go"), read(t, "testdata/shop/main.go.txt"))
	url := testdb.URL(t)
	require.Equal(t, read(t, "testdata/shop/want.txt"), run(t, dir, url))
	inOrder(t, dir, url)
}

func TestGenerateTwiceIsByteEqual(t *testing.T) {
	t.Parallel()
	var trees [2]string
	for i := range trees {
		dir := folder(t, "example.com/shop")
		write(t, filepath.Join(dir, "definitions/order.yaml"), read(t, "testdata/shop/definitions/order.yaml"))
		code, out := fsmgen(t, dir, "init")
		require.Zero(t, code, out)
		code, out = fsmgen(t, dir, "generate")
		require.Zero(t, code, out)
		trees[i] = tree(t, dir)
	}
	require.Equal(t, trees[0], trees[1])
}

// tree is every file below the generated folders, with its content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, part := range []string{"migrations", "queries", "gen"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(dir, part), func(name string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				rel, _ := filepath.Rel(dir, name)
				fmt.Fprintf(&b, "== %s\n%s", rel, read(t, name))
			}
			return err
		}))
	}
	return b.String()
}

func TestCheckShowsTheDifferenceAfterAnEdit(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/news")
	for _, verb := range []string{"init", "generate"} {
		code, out := fsmgen(t, dir, verb)
		require.Zero(t, code, out)
	}
	file := filepath.Join(dir, "definitions/article.yaml")
	before := tree(t, dir)
	write(t, file, strings.Replace(read(t, file), "  ARCHIVED:  {final: true}", "  ARCHIVED:  {final: true}\n  WITHDRAWN: {final: true}", 1)+
		"  - {event: reject, from: PUBLISHED, to: WITHDRAWN}\n")
	code, out := fsmgen(t, dir, "generate", "--check")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "+++ b/migrations/00003_article.sql")
	require.Contains(t, out, `+	StateWithdrawn State = "WITHDRAWN"`)
	require.Equal(t, before, tree(t, dir), "--check writes nothing")

	code, out = fsmgen(t, dir, "generate")
	require.Zero(t, code, out)
	require.FileExists(t, filepath.Join(dir, "migrations/00003_article.sql"))
	code, out = fsmgen(t, dir, "generate", "--check")
	require.Zero(t, code, out)
}

func TestABrokenDefinitionWritesNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/news")
	code, out := fsmgen(t, dir, "init")
	require.Zero(t, code, out)
	file := filepath.Join(dir, "definitions/article.yaml")
	text := read(t, file)
	text = strings.Replace(text, "event: publish,", "event: publsh,", 1)
	text = strings.Replace(text, "set: {published_at: now()}", "set: {publishd_at: now()}", 1)
	text = strings.Replace(text, "check: title <> ''", "check: titel <> ''", 1)
	write(t, file, text)
	code, out = fsmgen(t, dir, "generate")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "definitions/article.yaml:9:")
	require.Contains(t, out, `did you mean "publish"?`)
	require.Contains(t, out, "nothing was written")
	require.NoDirExists(t, filepath.Join(dir, "gen"))
	require.NoDirExists(t, filepath.Join(dir, "queries"))
}

// Reserved words, quotes, comment marks and directives are only names and text.
func TestHostileNamesGenerateAndServe(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/hostile")
	write(t, filepath.Join(dir, "definitions/hostile.yaml"), read(t, "testdata/hostile/definitions/hostile.yaml"))
	for _, verb := range []string{"lint", "init", "generate"} {
		code, out := fsmgen(t, dir, verb)
		require.Zero(t, code, out)
	}
	write(t, filepath.Join(dir, "main.go"), read(t, "testdata/hostile/main.go.txt"))
	url := testdb.URL(t)
	require.Equal(t, read(t, "testdata/hostile/want.txt"), run(t, dir, url))
	inOrder(t, dir, url)
}

// A key, an identity or an amount is taken as it is or refused, never cut to
// its column's length or rounded: one could then stand for another. What is no
// number is refused, since nothing brings a sum back from it.
func TestNothingIsCutOrRounded(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/exact")
	for _, name := range []string{"definitions/ticket.yaml", "definitions/purse.yaml"} {
		write(t, filepath.Join(dir, name), read(t, filepath.Join("testdata/exact", name)))
	}
	for _, verb := range []string{"lint", "init", "generate"} {
		code, out := fsmgen(t, dir, verb)
		require.Zero(t, code, out)
	}
	write(t, filepath.Join(dir, "main.go"), read(t, "testdata/exact/main.go.txt"))
	url := testdb.URL(t)
	require.Equal(t, read(t, "testdata/exact/want.txt"), run(t, dir, url))
	inOrder(t, dir, url)
}

// A call that waited writes into the row that the other one left. PostgreSQL asks
// a CHECK of what the statement computed first, from the old row, and would
// refuse what the committed row allows; so all that the CHECK looks at comes from
// the row that was locked.
func TestAChecksOldRowRefusesNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/limits")
	write(t, filepath.Join(dir, "definitions/credit.yaml"), read(t, "testdata/limits/definitions/credit.yaml"))
	for _, verb := range []string{"lint", "init", "generate"} {
		code, out := fsmgen(t, dir, verb)
		require.Zero(t, code, out)
	}
	write(t, filepath.Join(dir, "main.go"), read(t, "testdata/limits/main.go.txt"))
	url := testdb.URL(t)
	require.Equal(t, "Applied 4 140 of 200\n", run(t, dir, url))
	inOrder(t, dir, url)

	breakFile(t, filepath.Join(dir, "gen/db/credit.sql.go"), "limit_cents = l.limit_cents,\n", "\n")
	require.Equal(t, "nothing done\n", run(t, dir, testdb.URL(t)))
}

// A table that no migration of the project makes, with a key of several
// columns, codes for states and words of an outside system.
func TestATableOfOnesOwnServes(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/own")
	write(t, filepath.Join(dir, "definitions/settlement.yaml"), read(t, "testdata/own/definitions/settlement.yaml"))
	for _, verb := range []string{"init", "generate"} {
		code, out := fsmgen(t, dir, verb)
		require.Zero(t, code, out)
	}
	code, out := fsmgen(t, dir, "generate", "--check")
	require.Zero(t, code, out)
	write(t, filepath.Join(dir, "main.go"), read(t, "testdata/own/main.go.txt"))
	url := testdb.URL(t)
	require.Equal(t, read(t, "testdata/own/want.txt"), run(t, dir, url))
	inOrder(t, dir, url)
}

// A table that a migration of the project makes is shown to sqlc as that makes
// it: with an enum, and NOT NULL only from the machine's migration on.
func TestATableOfOnesMigrationsServes(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/own")
	code, out := fsmgen(t, dir, "init")
	require.Zero(t, code, out)
	require.NoError(t, os.Remove(filepath.Join(dir, "definitions/article.yaml")))
	write(t, filepath.Join(dir, "migrations/00002_posts.sql"), `-- +goose Up
CREATE TYPE post_state AS ENUM ('DRAFT', 'OUT');
CREATE TABLE "posts" (id uuid PRIMARY KEY, state post_state DEFAULT 'DRAFT', title text);
-- +goose Down
DROP TABLE posts;
DROP TYPE post_state;
`)
	write(t, filepath.Join(dir, "definitions/post.yaml"), `machine: post
table:
  name: posts
  existing: true
  key: {column: id, type: uuid}
  status: {column: state, enum: post_state}
  columns: {title: text}
states:
  DRAFT: {initial: true}
  OUT: {final: true}
events: {publish: {}}
transitions:
  - {event: publish, from: DRAFT, to: OUT}
`)
	write(t, filepath.Join(dir, "queries/mine.sql"), "-- name: Titles :many\nSELECT p.title, p.state FROM posts AS p;\n")
	code, out = fsmgen(t, dir, "generate")
	require.Zero(t, code, out)
	write(t, filepath.Join(dir, "main.go"), `package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.com/own/gen/db"
	"example.com/own/gen/post"
	"example.com/own/migrations"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	check(err)
	provider, err := goose.NewProvider(goose.DialectPostgres, stdlib.OpenDBFromPool(pool), migrations.FS)
	check(err)
	_, err = provider.Up(ctx)
	check(err)
	const key post.Key = "00000000-0000-4000-8000-000000000001"
	_, err = post.Create(ctx, pool, post.CreateParams{Key: key, Title: "Tea"})
	check(err)
	r, err := post.Publish(ctx, pool, key)
	check(err)
	fmt.Println(r.Outcome, r.State, r.Row.Title)
	titles, err := db.New(pool).Titles(ctx)
	check(err)
	fmt.Println(titles[0].Title, titles[0].State)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
`)
	url := testdb.URL(t)
	require.Equal(t, "Applied OUT Tea\nTea OUT\n", run(t, dir, url))
	inOrder(t, dir, url)
}

// Every word that SQL has for itself may be a parameter and a column: set
// alone, checked, guarded by, part of an identity and of a fingerprint,
// optional, and given at Create.
func TestReservedWordsServe(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/words")
	words := reservedWords(t)
	var columns, set, params, ones, moves strings.Builder
	var guard, rest []string
	for i, w := range words {
		optional := i%3 == 2
		fmt.Fprintf(&columns, "    '%s': {type: bigint, optional: %t}\n", w, i%2 == 0 || optional)
		fmt.Fprintf(&set, "      '%s': '@%[1]s'\n", w)
		fmt.Fprintf(&params, "      '%s': {type: bigint, check: '@%[1]s > 0', optional: %t}\n", w, optional)
		guard = append(guard, fmt.Sprintf("coalesce(@%s,0)", w))
		if i > 1 && !optional {
			rest = append(rest, "'"+w+"'")
		}
		fmt.Fprintf(&ones, "  one %s: {params: {'%[1]s': uuid}, identity: ['%[1]s']}\n", w)
		fmt.Fprintf(&moves, "  - {event: one %s, from: OPEN, to: OPEN}\n", w)
	}
	write(t, filepath.Join(dir, "definitions/word.yaml"), fmt.Sprintf(`machine: word
table:
  name: words
  key: {column: primary, type: bigint}
  columns:
%sstates:
  OPEN: {initial: true, resting: true}
events:
  told:
    params:
%s    identity: ['%s', '%s']
    fingerprint: [%s]
%stransitions:
  - event: told
    from: OPEN
    to: OPEN
    guard: {sql: '%s', describe: all of them}
    emit: [told]
    set:
%s%s`, strings.ReplaceAll(columns.String(), "    'primary': {type: bigint, optional: true}\n", ""), params.String(), words[0], words[1],
		strings.Join(rest, ", "), ones.String(), strings.Join(guard, "+")+" > 0",
		strings.ReplaceAll(set.String(), "      'primary': '@primary'\n", ""), moves.String()))
	for _, verb := range []string{"lint", "init", "generate"} {
		code, out := fsmgen(t, dir, verb)
		require.Zero(t, code, out)
	}
	write(t, filepath.Join(dir, "main.go"), read(t, "testdata/words/main.go.txt"))
	url := testdb.URL(t)
	require.Equal(t, read(t, "testdata/words/want.txt"), run(t, dir, url))
	inOrder(t, dir, url)
}

// reservedWords are those that PostgreSQL does not take as any name, in order.
func reservedWords(t *testing.T) []string {
	t.Helper()
	rows, err := testdb.New(t).Query(t.Context(), `SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T', 'C') ORDER BY word`)
	require.NoError(t, err)
	words, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(words), 100)
	return words
}
