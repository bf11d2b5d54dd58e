package live

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/internal/testpgbouncer"
	"github.com/pawl-go/pawl/migrations"
)

// role makes one that may log in and nothing else, and drops it after the database.
func (b bed) role() string {
	b.t.Helper()
	name := "r" + strings.ToLower(rand.Text())[:12]
	b.exec("CREATE ROLE " + name + " LOGIN PASSWORD 'x'")
	b.t.Cleanup(func() {
		for _, sql := range []string{"DROP OWNED BY " + name, "DROP ROLE " + name} {
			_, err := b.pool.Exec(context.Background(), sql)
			require.NoError(b.t, err)
		}
	})
	return name
}

// as opens the database in a role.
func (b bed) as(role string) *Database {
	b.t.Helper()
	db, err := Open(b.urlOf(role))
	require.NoError(b.t, err)
	b.t.Cleanup(db.Close)
	require.Equal(b.t, role, db.Role())
	return db
}

func (b bed) urlOf(role string) string {
	b.t.Helper()
	u, err := url.Parse(b.url)
	require.NoError(b.t, err)
	u.User = url.UserPassword(role, "x")
	return u.String()
}

// pooled opens the database in a role, through PgBouncer, which gives out a connection for
// a transaction.
func (b bed) pooled(role string) *Database {
	b.t.Helper()
	db, err := Open(testpgbouncer.Start(b.t, b.urlOf(role), 2))
	require.NoError(b.t, err)
	b.t.Cleanup(db.Close)
	return db
}

// Settings of the role say in which form values come, and pgx reads one of them.
func TestValuesAreReadWhateverTheRoleHasSet(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	require.Equal(t, fsm.Compensated, b.pay(first, "p1", 1))
	b.tell("stripe", "ev_1", "paid", "p1", "done", "duplicate")
	b.exec("UPDATE orders SET deadline_at = now() - interval '1 hour', customer_id = '张三'")
	b.exec("UPDATE order_history SET actor = '李四'")
	role := b.role()
	b.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	for _, set := range []string{"datestyle = 'SQL, DMY'", "intervalstyle = 'sql_standard'", "bytea_output = 'escape'", "client_encoding = 'LATIN1'"} {
		b.exec("ALTER ROLE " + role + " SET " + set)
	}
	for name, db := range map[string]*Database{"direct": b.as(role), "pooler": b.pooled(role)} {
		for question, ask := range questions(t, db) {
			require.NoError(t, ask(), name+" "+question)
		}
		m := named(t, machines(t), "order")
		life, err := db.Life(t.Context(), m, []string{first})
		require.NoError(t, err)
		require.Equal(t, "李四", life.Entries[0].Actor, name)
		require.Equal(t, "张三", *life.Values[0].Text, name)
		require.WithinDuration(t, time.Now(), life.Now, time.Minute, name)
	}
}

// The reader of gen/roles.sql sees all there is.
func TestTheReaderSeesAll(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../gen/roles.sql")
	require.NoError(t, err)
	prefix := "p" + strings.ToLower(rand.Text())[:10] + "_"
	var admin *pgx.ConnConfig
	t.Cleanup(func() { // after the database, which testdb drops
		if admin == nil {
			return
		}
		admin.Database = "postgres"
		conn, err := pgx.ConnectConfig(context.Background(), admin)
		require.NoError(t, err)
		defer func() { _ = conn.Close(context.Background()) }()
		for _, role := range []string{"login", "app", "support", "reader", "migrator", "writer"} {
			_, err := conn.Exec(context.Background(), "DROP ROLE IF EXISTS "+prefix+role)
			require.NoError(t, err)
		}
	})
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	admin = pool.Config().ConnConfig.Copy()
	b := bed{t, pool, pool.Config().ConnString()}
	b.create(first)
	require.NotEmpty(t, b.pay(first, "p1", 100))
	b.tell("stripe", "ev_1", "paid", "p1", "done", "duplicate")
	b.exec(strings.ReplaceAll(string(content), "pawl_", prefix))
	b.exec(fmt.Sprintf("CREATE ROLE %slogin LOGIN PASSWORD 'x' IN ROLE %[1]sreader", prefix))

	db := b.as(prefix + "login")
	for name, ask := range questions(t, db) {
		require.NoError(t, ask(), name)
	}
	lags, err := db.Lags(t.Context(), machines(t))
	require.NoError(t, err)
	require.Empty(t, lags.Failed)
	for _, there := range []bool{lags.Outbox != nil, lags.Inbox != nil, lags.Commands != nil, lags.Attempts != nil, lags.Letters != nil, lags.Tokens != nil} {
		require.True(t, there)
	}
	life, err := db.Life(t.Context(), named(t, machines(t), "order"), []string{first})
	require.NoError(t, err)
	require.Len(t, life.Deliveries, 2)
	_, err = db.pool.Exec(t.Context(), "DELETE FROM orders")
	require.Error(t, err)
}

// A role that lacks a grant is told which.
func TestWhichGrantIsMissing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	role := b.role()
	db := b.as(role)
	ask := questions(t, db)
	require.Equal(t, "GRANT SELECT ON orders TO "+role+";", errorOf(t, ask["count"]()).Grant(role))
	b.exec("GRANT SELECT ON orders TO " + role)
	require.NoError(t, ask["count"]())
	require.Equal(t, "GRANT SELECT ON order_history TO "+role+";", errorOf(t, ask["moves"]()).Grant(role))
	require.Equal(t, "GRANT SELECT ON order_history TO "+role+";", errorOf(t, ask["life"]()).Grant(role))
	b.exec("GRANT SELECT ON order_history, order_facts TO " + role)
	require.NoError(t, ask["moves"]())
	b.exec("GRANT SELECT (id, provider, message_id, received_at, events) ON fsm_deliveries TO " + role)
	require.Equal(t, "GRANT SELECT (verdicts) ON fsm_deliveries TO "+role+";", errorOf(t, ask["deliveries"]()).Grant(role))
	err := ask["outbox"]()
	require.ErrorIs(t, err, ErrDenied)
	require.Equal(t, "fsm_outbox", errorOf(t, err).Relation)
	life, err := db.Life(t.Context(), named(t, machines(t), "order"), []string{first})
	require.NoError(t, err)
	require.Len(t, life.Entries, 1, "the row is shown")
	require.Len(t, life.Unread, 3, "and what of it is not")
	// Columns that were not granted are left out of a row.
	b.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	b.exec("REVOKE SELECT ON orders FROM " + role + "; GRANT SELECT (order_id, status, version, deadline_at, deadline_runs, sku) ON orders TO " + role)
	life, err = db.Life(t.Context(), named(t, machines(t), "order"), []string{first})
	require.NoError(t, err)
	require.Empty(t, life.Unread)
	require.Len(t, life.Values, 1)
	require.Equal(t, "sku", life.Values[0].Column)
}

// Without the migrations, the table that is missing is named; without those of other
// parts there is nothing to say.
func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	b := bed{t, pool, pool.Config().ConnString()}
	db := b.open()
	for name, ask := range questions(t, db) {
		switch err := ask(); name {
		case "deliveries", "outbox":
			require.NoError(t, err, name)
		default:
			require.ErrorIs(t, err, ErrMissing, name)
			require.Contains(t, []string{"orders", "order_history"}, errorOf(t, err).Relation, name)
		}
	}
	lags, err := db.Lags(t.Context(), nil)
	require.NoError(t, err)
	require.Nil(t, lags.Outbox)
	require.Nil(t, lags.Inbox)
	told, err := db.Deliveries(t.Context())
	require.NoError(t, err)
	require.False(t, told.There)
}
