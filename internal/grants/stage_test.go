package grants

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

const root = "../.."

// The two forms of gen/roles.sql.
const (
	statements = "calls=statements"
	functions  = "calls=functions"
)

// generated is what the definitions of this repository make in a form.
type generated struct {
	roles string
	// files are those of gen/db, by path.
	files map[string]string
	// migrations are those that were made: all, of a project that had none.
	migrations fstest.MapFS
	err        error
}

var made = map[string]func() generated{
	statements: sync.OnceValue(committed),
	functions:  sync.OnceValue(func() generated { return generate(functions) }),
}

// committed is what this repository holds; another test sees to it that it is current.
func committed() generated {
	content, err := os.ReadFile(root + "/gen/roles.sql")
	if err == nil && !strings.Contains(string(content), statements) {
		err = errors.New("gen/roles.sql is of the other form")
	}
	return generated{roles: string(content), err: err}
}

func generate(form string) (g generated) {
	return generateFrom(os.DirFS(root), form)
}

// generateFrom is generate for another project.
func generateFrom(project fs.FS, form string) (g generated) {
	g.files, g.migrations = map[string]string{}, fstest.MapFS{}
	option, err := pipeline.Roles(form)
	if err != nil {
		return generated{err: err}
	}
	var problems diag.List
	set, _, err := pipeline.GenerateWaiting(context.Background(), project, &problems, option)
	if err != nil || set == nil {
		return generated{err: fmt.Errorf("%v %w", problems.Sorted(), err)}
	}
	for _, path := range set.Paths() {
		content, _ := set.Get(path)
		switch {
		case path == "gen/roles.sql":
			g.roles = string(content)
		case strings.HasPrefix(path, "gen/db/"):
			g.files[path] = string(content)
		case strings.HasPrefix(path, "migrations/") && strings.HasSuffix(path, ".sql"):
			g.migrations[strings.TrimPrefix(path, "migrations/")] = &fstest.MapFile{Data: content}
		}
	}
	return g
}

func of(t testing.TB, form string) generated {
	t.Helper()
	g := made[form]()
	require.NoError(t, g.err)
	require.NotEmpty(t, g.roles)
	return g
}

// stage is a database with the roles of one form. Roles are the server's, so each
// stage has names of its own.
type stage struct {
	t      testing.TB
	pool   *pgxpool.Pool // as the superuser
	prefix string
	gen    generated
}

// password is that of those who log in.
var password = rand.Text()

// roles that somebody who logs in is given.
var roles = []string{"app", "support", "reader", "migrator"}

// open migrates a database, as the superuser, and runs the file.
func open(t testing.TB, form string) *stage {
	t.Helper()
	return openOn(t, of(t, form), migrations.FS)
}

// openOn is open for what was generated, and its migrations.
func openOn(t testing.TB, gen generated, files fs.FS) *stage {
	t.Helper()
	s := &stage{t: t, prefix: "p" + strings.ToLower(rand.Text())[:10] + "_", gen: gen}
	var admin *pgx.ConnConfig
	t.Cleanup(func() { s.dropRoles(admin) }) // after the database, which testdb drops
	s.pool = testdb.New(t, testdb.WithMigrations(files))
	admin = s.pool.Config().ConnConfig.Copy()
	s.run(s.file())
	for _, role := range roles {
		s.run(fmt.Sprintf("CREATE ROLE %[1]slogin_%[2]s LOGIN PASSWORD '%[3]s' IN ROLE %[1]s%[2]s", s.prefix, role, password))
	}
	s.run(fmt.Sprintf("ALTER ROLE %[1]slogin_migrator SET role = '%[1]smigrator'", s.prefix))
	return s
}

// file is gen/roles.sql with this stage's names.
func (s *stage) file() string { return s.named(s.gen.roles) }

func (s *stage) dropRoles(admin *pgx.ConnConfig) {
	if admin == nil {
		return
	}
	admin.Database = "postgres"
	conn, err := pgx.ConnectConfig(context.Background(), admin)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	for _, role := range append(slices.Clone(roles), "deploy") {
		_, err := conn.Exec(context.Background(), "DROP ROLE IF EXISTS "+s.prefix+"login_"+role)
		require.NoError(s.t, err)
	}
	for _, role := range append(slices.Clone(roles), "writer", "other") {
		_, err := conn.Exec(context.Background(), "DROP ROLE IF EXISTS "+s.prefix+role)
		require.NoError(s.t, err)
	}
}

// run runs statements as the superuser.
func (s *stage) run(sql string) {
	s.t.Helper()
	conn, err := pgx.ConnectConfig(s.t.Context(), s.pool.Config().ConnConfig)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.PgConn().Exec(s.t.Context(), sql).ReadAll()
	require.NoError(s.t, err)
}

// as is a session of somebody who logs in and has the role.
func (s *stage) as(role string) *pgx.Conn {
	s.t.Helper()
	config := s.pool.Config().ConnConfig.Copy()
	config.User, config.Password = s.prefix+"login_"+role, password
	conn, err := pgx.ConnectConfig(s.t.Context(), config)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// refused runs the file as the superuser, and returns what it says where it refuses;
// nothing is changed then.
func (s *stage) refused() string {
	s.t.Helper()
	conn, err := pgx.ConnectConfig(s.t.Context(), s.pool.Config().ConnConfig)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.PgConn().Exec(s.t.Context(), s.file()).ReadAll()
	if err == nil {
		return ""
	}
	require.Equal(s.t, "P0001", state(s.t, err), "%v", err)
	return err.Error()
}

// named puts this stage's roles in the place of the usual ones.
func (s *stage) named(sql string) string { return strings.ReplaceAll(sql, "pawl_", s.prefix) }

// tried runs statements in a transaction that is rolled back, and returns the
// SQLSTATE of what refused one, empty for none.
func tried(t testing.TB, conn *pgx.Conn, sql string, args ...any) string {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(context.Background())) }()
	_, err = tx.Exec(t.Context(), sql, args...)
	return state(t, err)
}

func state(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var pg *pgconn.PgError
	require.ErrorAs(t, err, &pg)
	return pg.Code
}

// denied is what somebody without a privilege is told.
const denied = "42501"

// through is a database whose calls go by the functions, as those of a program that
// was generated with calls=functions do.
func (s *stage) through(db fsm.DB) fsm.DB { return calling{db, callsOf(s.t)} }

var call = regexp.MustCompile("`(-- name: [A-Za-z]+ :[a-z]+)\n(SELECT \\* FROM public\\.fsm_[^\n]*)\n`")

// callsOf are the calls in gen/db, by the first line of the statement.
func callsOf(t testing.TB) map[string]string {
	t.Helper()
	calls := map[string]string{}
	for _, text := range of(t, functions).files {
		for _, m := range call.FindAllStringSubmatch(text, -1) {
			calls[m[1]] = m[1] + "\n" + m[2]
		}
	}
	require.NotEmpty(t, calls)
	return calls
}

// calling sends the calls in the place of the statements that this program has.
type calling struct {
	fsm.DB
	calls map[string]string
}

func (c calling) of(sql string) string {
	line, _, _ := strings.Cut(sql, "\n")
	if other, ok := c.calls[line]; ok {
		return other
	}
	return sql
}

func (c calling) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return c.DB.Exec(ctx, c.of(sql), args...)
}

func (c calling) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return c.DB.Query(ctx, c.of(sql), args...)
}

func (c calling) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return c.DB.QueryRow(ctx, c.of(sql), args...)
}
