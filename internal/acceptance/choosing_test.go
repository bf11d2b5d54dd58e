package acceptance

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/command/commandhttp"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/consume/consumewatermill"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/fsm/relay/relaywatermill"
	"github.com/pawl-go/pawl/fsm/token"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/article"
	"github.com/pawl-go/pawl/gen/order"
)

// They are code to read; that it compiles is all that is asked of it here.
var _ = []any{
	choosingTransition, choosingVersion, choosingLedger, choosingStock, choosingCommand,
	choosingTokenIssued, choosingToken, choosingLock,
	choosingConsumer, choosingInbox, choosingSettle, choosingAttempt, choosingRelay, choosingBeside, forget,
}

func choosingTransition(ctx context.Context, pool *pgxpool.Pool, id article.Key) error {
	r, err := article.Publish(ctx, pool, id, fsm.Actor("ann"))
	if err != nil {
		return err
	}
	return r.Err() // nil for Applied and Replayed: either way it is published now
}

func choosingVersion(ctx context.Context, pool *pgxpool.Pool, sku string, price func(int64) int64) error {
	return fsm.RunTx(ctx, pool, fsm.TxPolicy{Attempts: 20}, func(ctx context.Context, tx pgx.Tx) error {
		var cents, version int64
		err := tx.QueryRow(ctx, "SELECT cents, version FROM prices WHERE sku = $1", sku).Scan(&cents, &version)
		if err != nil {
			return err
		}
		done, err := tx.Exec(ctx, "UPDATE prices SET cents = $1, version = version + 1 WHERE sku = $2 AND version = $3", price(cents), sku, version)
		if err == nil && done.RowsAffected() == 0 {
			err = fsm.ErrContended // others were faster: read again, decide again
		}
		return err
	})
}

func choosingLedger(ctx context.Context, tx pgx.Tx, customer, orderID string, points int64) (bool, error) {
	done, err := tx.Exec(ctx, `INSERT INTO points (customer_id, order_id, kind, points) VALUES ($1, $2, 'paid', $3)
		ON CONFLICT (order_id, kind) DO NOTHING`, customer, orderID, points)
	return done.RowsAffected() == 1, err // false: these points were booked before
}

func choosingCommand(pool *pgxpool.Pool, signedIn func(*http.Request) (string, error), createRefund http.Handler) (http.Handler, error) {
	once, err := commandhttp.New(commandhttp.Options{
		Command: &command.Command{Name: "create-refund", Retention: 7 * 24 * time.Hour},
		DB:      pool,
		Caller: func(r *http.Request) (commandhttp.Caller, error) {
			tenant, err := signedIn(r)
			return commandhttp.Caller{Scope: tenant}, err
		},
	})
	if err != nil {
		return nil, err
	}
	return once(createRefund), nil // it works in commandhttp.Tx(r.Context())
}

func choosingStock(ctx context.Context, tx pgx.Tx, orderID, sku string, pieces int64) (bool, error) {
	done, err := tx.Exec(ctx, `WITH taken AS (
			UPDATE stock SET quantity = quantity - $3 WHERE sku = $2 AND quantity >= $3 RETURNING sku
		)
		INSERT INTO stock_moves (order_id, sku, quantity) SELECT $1, sku, -$3 FROM taken`, orderID, sku, pieces)
	return done.RowsAffected() == 1, err // false: too few are left; an error: this order took its pieces before
}

var form = token.Kind{Name: "enrol", TTL: 30 * time.Minute, Keep: 24 * time.Hour}

func choosingTokenIssued(ctx context.Context, pool *pgxpool.Pool, customer string) (string, error) {
	fresh, err := token.Issue(ctx, pool, form, customer, "enrol in course 7") // when the page is shown: fresh.Reveal() goes into it
	return fresh.Reveal(), err
}

func choosingToken(ctx context.Context, pool *pgxpool.Pool, customer, posted string, enrol func(context.Context, pgx.Tx) ([]byte, error)) ([]byte, error) {
	used, err := token.Use(ctx, pool, token.From(posted), customer, "enrol in course 7", enrol) // when the form comes
	return used.Reply, err                                                                      // the first one's reply, however often it comes
}

// account is what the lock example judges.
type account struct{ balance, version int64 }

func choosingLock(ctx context.Context, redis lock.Locker, pool *pgxpool.Pool, id string) error {
	table, err := lock.NewPostgres(pool, lock.Config{MaxHold: time.Minute})
	if err != nil {
		return err
	}
	locker, err := lock.Fallback(redis, table, lock.Rule{Stay: 10 * time.Second})
	if err != nil {
		return err
	}
	_, err = lock.LockJudgeUpdate(ctx, locker, pool, "account/"+id,
		func(ctx context.Context, tx pgx.Tx) (a account, err error) {
			err = tx.QueryRow(ctx, "SELECT balance, version FROM accounts WHERE id = $1", id).Scan(&a.balance, &a.version)
			return a, err
		},
		func(ctx context.Context, tx pgx.Tx, a account, fence int64) (int64, error) {
			done, err := tx.Exec(ctx, "UPDATE accounts SET balance = $1, version = version + 1, fence = $2 WHERE id = $3 AND version = $4 AND fence < $2",
				a.balance-100, fence, id, a.version)
			return done.RowsAffected(), err // 0: no longer as judged, and nothing is done
		})
	return err
}

func choosingConsumer(router *message.Router, pool *pgxpool.Pool, subscriber message.Subscriber, ship func(context.Context, pgx.Tx, []byte) error) {
	shipping := &consume.Consumer{DB: pool, Name: "shipping", Lease: time.Minute, Tries: 5}
	handler := router.AddConsumerHandler("shipping", "order_paid", subscriber, func(m *message.Message) error {
		tx := consumewatermill.Tx(m.Context())
		return ship(m.Context(), tx, m.Payload)
	})
	handler.AddMiddleware(consumewatermill.Middleware(shipping, consumewatermill.Options{}))
}

func choosingInbox(pool *pgxpool.Pool, v *webhook.Stripe, settle inbox.Handler) (*inbox.Inbox, http.Handler, error) {
	in, err := inbox.New(inbox.Config{Pool: pool, Providers: []inbox.Provider{inbox.Stripe(v, settle)}})
	if err != nil {
		return nil, nil, err
	}
	endpoint, err := in.Handler("stripe") // and beside it (&inbox.Retry{Inbox: in}).Run(ctx)
	return in, endpoint, err
}

func choosingSettle(paymentOf func(inbox.Event) (order.Key, string, int64)) inbox.Handler {
	return func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		id, number, cents := paymentOf(e)
		r, err := order.PaymentSucceeded(ctx, tx, id, order.PaymentSucceededParams{PaymentNo: e.Identity(number), PaidCents: cents})
		return r.Outcome, err // ErrNotFound: the order is not there yet; the event is parked
	}
}

func choosingAttempt(ctx context.Context, tx pgx.Tx, pool *pgxpool.Pool, refund *attempt.Kind, refundNo string, cents int64) error {
	a, started, err := attempt.Start(ctx, tx, refund, refundNo, map[string]int64{"cents": cents}) // in the business transaction
	if err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	if !started {
		return nil // the Completer drives it, when it is due
	}
	_, err = attempt.Drive(ctx, pool, refund, a.ID)
	if errors.Is(err, attempt.ErrUnfinished) || errors.Is(err, attempt.ErrBusy) {
		return nil // not answered yet, or a Completer was faster: it goes on
	}
	return err
}

func choosingRelay(ctx context.Context, pool *pgxpool.Pool, broker message.Publisher) error {
	r := &relay.Relay{DB: pool, Publisher: &relaywatermill.Publisher{Publisher: broker}}
	return r.Run(ctx) // as many as you like, in as many processes
}

func choosingBeside(ctx context.Context, pool *pgxpool.Pool, in *inbox.Inbox, kinds []*attempt.Kind, r *relay.Relay) {
	go (&fsm.Sweeper{DB: pool, Sweeps: order.Sweeps()}).Run(ctx)
	go (&inbox.Retry{Inbox: in}).Run(ctx)
	go (&attempt.Completer{DB: pool, Kinds: kinds}).Run(ctx)
	go (&attempt.Sweeper{DB: pool, Kinds: kinds}).Run(ctx)
	go r.Run(ctx) // the relay
}

// forget sweeps what is old enough. Call it every few minutes, of what you use; retentions are longer than anybody repeats.
func forget(ctx context.Context, pool *pgxpool.Pool, pay *command.Command, shipping *consume.Consumer, in *inbox.Inbox) error {
	const day = 24 * time.Hour
	_, commands := pay.Sweep(ctx, pool, 0) // after Command.Retention
	_, _, keys := shipping.Sweep(ctx, consume.Sweep{Retention: 30 * day})
	_, callbacks := in.Sweep(ctx, inbox.Retention{Bodies: 30 * day, Rows: 400 * day})
	_, sent := relay.Sweep(ctx, pool, 7*day)
	_, tokens := token.Sweep(ctx, pool, 100_000) // one page
	return errors.Join(commands, keys, callbacks, sent, tokens)
}
