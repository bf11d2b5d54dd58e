package torture

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/pawl-go/pawl/internal/localpg"
	"github.com/pawl-go/pawl/internal/torture/load"
	"github.com/pawl-go/pawl/internal/torture/nemesis"
	"github.com/pawl-go/pawl/internal/torture/wire"
)

// system is all that harm is done to.
type system struct {
	server   *localpg.Server
	url      string // around the proxy
	proxy    *wire.Proxy
	redis    *redisServer
	services []*service
	bundles  *bundles
	target   *nemesis.Target
}

// diskSize is that of the small disk, in MiB: room for an outbox that its relays have
// no time for.
const diskSize = 256

// settings of the server: a durable one, with timeouts that come to pass.
var settings = [][2]string{
	{"max_connections", "100"}, {"shared_buffers", "256MB"}, {"max_wal_size", "1GB"}, {"checkpoint_timeout", "30s"},
	{"deadlock_timeout", "100ms"}, {"idle_in_transaction_session_timeout", "3s"},
	{"log_min_messages", "fatal"}, {"log_min_error_statement", "panic"}, {"log_checkpoints", "off"},
}

// open brings everything up. What it returns is to be closed, with an error too.
func (t *trial) open(ctx context.Context) (*system, error) {
	s := &system{target: &nemesis.Target{}}
	o := localpg.Options{Settings: settings, Log: t.Log}
	if t.wants("clock") {
		clock, env, err := nemesis.NewClock(t.folder)
		if err != nil {
			return s, err
		}
		if s.target.Clock, o.Env = clock, env; clock == nil {
			t.leftOut = append(t.leftOut, "clock: there is no libfaketime (Debian: apt-get install faketime)")
		}
	}
	if t.wants("wal") {
		folder := filepath.Join(t.folder, "wal")
		if disk, err := nemesis.NewDisk(folder, nemesis.WALSize, t.folder); err != nil {
			t.leftOut = append(t.leftOut, "wal: "+err.Error())
		} else {
			s.target.WAL, o.WALDir, o.Settings = disk, folder, slices.Concat(settings, nemesis.WALSettings)
		}
	}
	var err error
	if s.server, err = localpg.Start(ctx, o); err != nil {
		return s, err
	}
	s.url = s.server.URL
	if err := t.fill(ctx, s); err != nil {
		return s, err
	}
	if s.redis, err = startRedis(ctx, t.folder); err != nil {
		t.leftOut = append(t.leftOut, "redis: "+err.Error())
	}
	u, err := url.Parse(s.url)
	if err != nil {
		return s, err
	}
	if s.proxy, err = wire.New(u.Host); err != nil {
		return s, err
	}
	u.Host = s.proxy.Addr()
	s.bundles = newBundles(t.Seed, t.short())
	for slot := range load.Slots {
		o := load.Options{Seed: t.Seed, Slot: slot, URL: u.String(), Isolation: t.wants("isolation"), SmallPool: t.wants("pool"), Short: t.short()}
		if s.redis != nil {
			o.Redis = s.redis.addr
		}
		v := &service{trial: t, bundles: s.bundles, options: o}
		s.services = append(s.services, v)
		s.target.Services = append(s.target.Services, v)
		if err := v.Restart(ctx); err != nil {
			return s, err
		}
	}
	s.bundles.services = s.services
	s.target.Server, s.target.Database, s.target.Proxy, s.target.Keys = s.server, s.url, s.proxy, s.bundles.keys
	if s.redis != nil {
		s.target.Redis = s.redis
	}
	return s, nil
}

// fill makes tables and stock, and puts the outbox on a small disk.
func (t *trial) fill(ctx context.Context, s *system) error {
	config, err := pgx.ParseConfig(s.url)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, t.Migrations, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, load.Tables); err != nil {
		return err
	}
	for n := range load.Skus {
		if _, err := db.ExecContext(ctx, `INSERT INTO shop_stock (sku, quantity) VALUES ($1, $2)`, load.Sku(n), load.Stock); err != nil {
			return err
		}
	}
	if !t.wants("full") {
		return nil
	}
	disk, err := nemesis.NewDisk(filepath.Join(t.folder, "disk"), diskSize, s.server.DataDir)
	if err != nil {
		t.leftOut = append(t.leftOut, "full: "+err.Error())
		return nil
	}
	s.target.Disk = disk
	for _, statement := range []string{
		`CREATE TABLESPACE torture LOCATION '` + disk.Folder + `'`,
		`ALTER TABLE fsm_outbox SET TABLESPACE torture`, `ALTER INDEX fsm_outbox_pkey SET TABLESPACE torture`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// close takes everything down.
func (s *system) close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, v := range s.services {
		errs = append(errs, v.Kill())
	}
	if s.proxy != nil {
		errs = append(errs, s.proxy.Close())
	}
	if s.redis != nil {
		errs = append(errs, s.redis.Kill())
	}
	if s.server != nil {
		errs = append(errs, s.server.Stop())
	}
	for _, disk := range []*nemesis.Disk{s.target.Disk, s.target.WAL} {
		if disk != nil {
			errs = append(errs, disk.Close())
		}
	}
	return errors.Join(errs...)
}

// asks runs a query of one number around the proxy.
func (s *system) asks(ctx context.Context, sql string) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = conn.QueryRow(ctx, sql).Scan(&n)
	return n, err
}

func (s *system) transitions(ctx context.Context) (int64, error) {
	return s.asks(ctx, `SELECT (SELECT count(*) FROM order_history) + (SELECT count(*) FROM payment_history) + (SELECT count(*) FROM refund_history)`)
}

// Bounds of the end.
const (
	drainTimeout = 5 * time.Minute
	quietTimeout = 2 * time.Minute
)

// rest lets the services finish what they have, has the outbox delivered, and ends
// them. What does not come to rest is a violation.
func (t *trial) rest(ctx context.Context) error {
	t.say("no more harm; finishing the %d bundles of orders that are under way", t.system.bundles.open())
	if !t.until(ctx, drainTimeout, func() bool { return t.system.bundles.open() == 0 }) {
		t.violation("calls that never come to an end", fmt.Sprintf("bundles %v", t.system.bundles.left()))
	}
	for _, v := range t.system.services {
		v.tell(load.TellCalm)
	}
	// What was leased or held back while the clock was ahead is so for as long again,
	// once it was set back: late by the jump, and not lost.
	if clock := t.system.target.Clock; clock != nil {
		if err := clock.Set(nemesis.MaxJump + 60); err != nil {
			return err
		}
		defer func() { _ = clock.Set(0) }() // the folder goes away in any case
	}
	empty := func(sql string) func() bool {
		return func() bool {
			n, err := t.system.asks(ctx, sql)
			return err == nil && n == 0
		}
	}
	if !t.until(ctx, drainTimeout, empty(`SELECT count(*) FROM fsm_outbox`)) {
		t.violation("an outbox that is never empty", "")
	}
	for _, v := range t.system.services {
		if err := v.stop(quietTimeout); err != nil {
			t.violation("a service that does not end as it was told", err.Error())
		}
	}
	if !t.until(ctx, quietTimeout, empty(`SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)) {
		t.violation("connections that are left at the server", "")
	}
	return ctx.Err()
}

// until asks again and again, and reports whether it was so in time.
func (t *trial) until(ctx context.Context, bound time.Duration, is func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for !is() {
		if !wait(ctx, 50*time.Millisecond) {
			return false
		}
	}
	return true
}

// freeAddr is an address that was free a moment ago.
func freeAddr() (addr, port string, err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	return l.Addr().String(), strconv.Itoa(l.Addr().(*net.TCPAddr).Port), l.Close()
}
