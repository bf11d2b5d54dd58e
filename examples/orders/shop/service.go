package shop

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/fsmotel"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
	"github.com/pawl-go/pawl/gen/refund"
)

// Config is what a Service is made of. Pool is required.
type Config struct {
	// Pool is on a migrated database. The service does not close it.
	Pool *pgxpool.Pool
	// Replica, where there is one, is read by those who only look at an order. The
	// service does not close it.
	Replica *pgxpool.Pool
	// Clock is the time of everything that the service does. With nil, calls
	// take the database's clock, which several instances share, and time stamps
	// of callbacks are compared with this machine's.
	Clock func() time.Time
	// Standard and Stripe verify the callbacks of either scheme; without a
	// verifier the endpoint of the scheme does not exist.
	Standard, Stripe webhook.Verifier
	// Inbox has callbacks kept before they are settled: the provider is told that
	// they are ours, in its own way, and what could not be settled is tried again by
	// Retry. Without it a callback is settled at once, and answered with the outcome.
	Inbox bool
	// Alipay and WeChat verify the callbacks of these two, which need the Inbox.
	Alipay *webhook.Alipay
	WeChat *webhook.WeChat
	// Lock orders the callbacks of one order; nil for none. They are right without
	// it, and while it is away. It must give up waiting well before Timeout, and one
	// on PostgreSQL must have a pool of its own: a callback holds its lock's
	// connection while it asks Pool for another.
	Lock lock.Locker
	// Refunds gives money back; nil for nobody, and then refunds wait for callbacks
	// or for a service that has it. RefundPolicy bounds its calls; the zero value is usable.
	Refunds      RefundProvider
	RefundPolicy attempt.Policy
	// Log is told of refused callbacks and failures; nil means slog.Default. Lines of a
	// request have its id, which the history has too, and its trace's.
	Log *slog.Logger
	// Telemetry counts and traces what the service does; nil for nothing.
	Telemetry *fsmotel.Telemetry
	// Ready returns why the database is not as the program needs it, for /readyz; nil
	// when it is. It is asked once a second at most, and has to answer within two.
	// Without it that is not asked.
	Ready func(context.Context) error
	// SweepEvery is the pause of the Sweeper between rounds, and of the provider
	// calls; 0 means 1 s, and 5 s.
	SweepEvery time.Duration
	// Timeout bounds one request; 0 means 10 s, about what a provider waits.
	Timeout time.Duration
	// Limit is for each address that asks, CallbackLimit for each that delivers
	// callbacks; the zero value is none. Who asks too often is told 429 and when to
	// come again, before anything was read. Keep that of callbacks far above what a
	// provider sends at its worst: each refusal is a payment that is heard of later.
	Limit, CallbackLimit Limit
}

const defaultTimeout = 10 * time.Second

// Service is the shop. It is safe for concurrent use and keeps nothing but
// counters in memory: any number of instances may share a database.
type Service struct {
	pool     *pgxpool.Pool
	replica  *pgxpool.Pool // nil for none
	clock    func() time.Time
	verify   map[string]webhook.Verifier // by provider
	lock     lock.Locker                 // nil for none
	inbox    *inbox.Inbox                // nil for none
	log      *slog.Logger
	sweep    time.Duration
	timeout  time.Duration
	create   keyed // orders
	refund   keyed
	calls    *refundCalls // nil without a provider of refunds
	counters counters

	telemetry              *fsmotel.Telemetry // of nobody's without Config.Telemetry
	counted                bool               // there is somebody
	ready                  func(context.Context) error
	database               remembered // asks, for readyz
	pulse                  pulse
	outage                 outage
	stopping               atomic.Bool
	limits, callbackLimits *limiter // nil for none
}

// The providers, as paths, actors and cases name them.
const (
	providerStandard = "standard"
	providerStripe   = "stripe"
	providerAlipay   = "alipay"
	providerWeChat   = "wechat"
)

// New returns a service, or an error when the pool is missing, or the inbox that
// a verifier needs. It does not look at the database.
func New(c Config) (*Service, error) {
	if c.Pool == nil {
		return nil, errors.New("shop: no pool")
	}
	s := &Service{
		pool: c.Pool, replica: c.Replica, clock: c.Clock, lock: c.Lock, log: c.Log, sweep: c.SweepEvery, timeout: c.Timeout,
		verify: map[string]webhook.Verifier{}, telemetry: c.Telemetry, counted: c.Telemetry != nil, ready: c.Ready,
		limits: newLimiter(c.Limit), callbackLimits: newLimiter(c.CallbackLimit),
	}
	s.database.ask = s.asks
	if s.log == nil {
		s.log = slog.Default()
	}
	s.log = slog.New(tied{s.log.Handler()})
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	if c.Standard != nil {
		s.verify[providerStandard] = c.Standard
	}
	if c.Stripe != nil {
		s.verify[providerStripe] = c.Stripe
	}
	if !c.Inbox && (c.Alipay != nil || c.WeChat != nil) {
		return nil, errors.New("shop: callbacks of Alipay and WeChat Pay need the inbox")
	}
	var err error
	if !s.counted {
		if s.telemetry, err = fsmotel.New(fsmotel.Config{Meters: metricnoop.NewMeterProvider(), Traces: tracenoop.NewTracerProvider()}); err != nil {
			return nil, err
		}
	}
	if s.lock != nil {
		s.lock = s.telemetry.Locker("order", s.lock)
	}
	if c.Inbox {
		if s.inbox, err = s.newInbox(c); err != nil {
			return nil, err
		}
	}
	if s.create, err = s.newKeyed(commandCreate); err != nil {
		return nil, err
	}
	if s.refund, err = s.newKeyed(commandRefund); err != nil {
		return nil, err
	}
	if s.calls, err = s.newRefundCalls(c.Refunds, c.RefundPolicy); err != nil {
		return nil, err
	}
	return s, nil
}

// Handler returns the HTTP interface; the package comment lists it.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	route := func(pattern string, h handler) { mux.Handle(pattern, s.answering(h)) }
	mux.Handle("POST /orders", s.once(s.create, s.createOrder))
	route("GET /orders/{id}", s.getOrder)
	route("DELETE /orders/{id}", s.cancelOrder)
	route("GET /orders/{id}/history", s.getHistory)
	route("POST /orders/{id}/pay", s.payOrder)
	route("POST /orders/{id}/ship", s.shipOrder)
	route("POST /orders/{id}/receive", s.receiveOrder)
	mux.Handle("POST /orders/{id}/refunds", s.once(s.refund, s.refundOrder))
	route("GET /commands/{command}/{key}", s.getCommand)
	route("PUT /stock/{sku}", s.putStock)
	route("GET /stock/{sku}", s.getStock)
	route("POST /stock/{sku}/takings", s.takeStock)
	route("GET /customers/{id}/balance", s.getBalance)
	route("PUT /customers/{id}/balance", s.putBalance)
	route("POST /customers/{id}/bookings", s.bookBalance)
	route("POST /articles", s.createArticle)
	route("GET /articles/{id}", s.getArticle)
	route("POST /articles/{id}/publish", s.publishArticle)
	route("POST /articles/{id}/archive", s.archiveArticle)
	if s.inbox != nil {
		s.serveInbox(mux)
	} else {
		for _, provider := range []string{providerStandard, providerStripe} {
			if v := s.verify[provider]; v != nil {
				route(callbacks+provider, s.callback(provider, v))
			}
		}
	}
	s.serveHealth(mux)
	return s.guarded(mux)
}

// Sweeper returns a sweeper over the deadlines of orders, payments and refunds.
// The caller runs it; several may run at once.
func (s *Service) Sweeper() *fsm.Sweeper {
	var sweeps []fsm.Sweep
	for _, machine := range [][]fsm.Sweep{order.Sweeps(), payment.Sweeps(), refund.Sweeps()} {
		for _, sweep := range machine {
			sweeps = append(sweeps, s.byClock(sweep))
		}
	}
	return &fsm.Sweeper{
		DB: s.pool, Sweeps: sweeps, Every: s.sweep,
		Swept: func(rows []fsm.Swept) {
			for _, r := range rows {
				s.counters.outcome(r.Machine, r.Event, fsm.Applied)
			}
		},
		Failed: func(err error) { s.Failed("a sweep failed", err) },
	}
}

// byClock has each page ask the clock anew: a sweeper outlives any one moment.
func (s *Service) byClock(sweep fsm.Sweep) fsm.Sweep {
	if s.clock == nil {
		return sweep
	}
	return func(ctx context.Context, db fsm.DB, page fsm.SweepPage) ([]fsm.Swept, error) {
		now := s.clock()
		page.Now = &now
		return sweep(ctx, db, page)
	}
}

// observed is ctx with what counts and traces calls.
func (s *Service) observed(ctx context.Context) context.Context {
	if !s.counted {
		return ctx
	}
	return s.telemetry.Context(ctx)
}

// now is the time of arrival of a callback.
func (s *Service) now() time.Time {
	if s.clock == nil {
		return time.Now()
	}
	return s.clock()
}

// at is the option that gives a call its time, nil for the database's clock.
func (s *Service) at() fsm.Option {
	if s.clock == nil {
		return nil
	}
	return fsm.At(s.clock())
}
