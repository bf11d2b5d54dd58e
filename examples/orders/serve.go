package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// serve runs the service until ctx ends, and returns the exit code.
func serve(ctx context.Context) int {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	settings, err := shop.ReadSettings(os.Getenv)
	if err != nil {
		log.Error("the settings cannot be used", "error", err)
		return 2
	}
	err = serveWith(ctx, settings, log)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		log.Info("interrupted before the service was up")
		return 0
	}
	log.Error("the service ended with an error", "error", err)
	return 1
}

func serveWith(ctx context.Context, settings shop.Settings, log *slog.Logger) error {
	play := len(settings.Standard) == 0 && len(settings.Stripe) == 0 && len(settings.Alipay.Keys) == 0 && len(settings.WeChat.Platform) == 0
	if play {
		settings.Standard = []webhook.Secret{playSecret()}
		settings.Stripe = []webhook.Secret{playSecret()}
	}
	metrics, err := newMetrics(log)
	if err != nil {
		return err
	}
	defer metrics.stop()
	config, err := callbacks(settings)
	if err != nil {
		return err
	}
	refunds, err := settings.Refunds()
	if err != nil {
		return err
	}
	// The port first: it is taken more often than a database is missing, and
	// costs nothing to find out.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", settings.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // Serve has closed it already, when it came to that
	admin, err := listenAdmin(ctx, settings.AdminAddr)
	if err != nil {
		return err
	}
	defer admin.close()
	pool, stop, err := openDatabase(ctx, databaseOptions{URL: settings.DatabaseURL, Log: slog.NewLogLogger(log.Handler(), slog.LevelInfo).Writer()})
	if err != nil {
		return err
	}
	defer stop()
	if err := metrics.watch(pool); err != nil {
		return err
	}
	config.Telemetry, config.Ready = metrics.telemetry, migrated(pool)
	config.Pool, config.Log, config.SweepEvery = pool, log, settings.SweepEvery
	config.Limit, config.CallbackLimit = settings.Limit, settings.CallbackLimit
	config.Refunds, config.RefundPolicy = refunds, attempt.Policy{CallTimeout: settings.ProviderTimeout}
	if settings.RedisURL != "" {
		locker, stop, err := openLock(ctx, settings.RedisURL, usualTimes, pool, log, metrics.telemetry.FellBack("lock"))
		if err != nil {
			return err
		}
		defer stop()
		config.Lock = locker
	}
	service, err := shop.New(config)
	if err != nil {
		return err
	}
	metrics.service.Store(service)
	beside, err := openBeside(ctx, settings, play, pool, listener, admin, log)
	if err != nil {
		return err
	}
	defer beside.close()
	admin.serve(service.Admin(), metrics.handler, beside.button, log)
	log.Info("listening", "addr", listener.Addr().String(), "standard", config.Standard != nil, "stripe", config.Stripe != nil,
		"alipay", config.Alipay != nil, "wechat", config.WeChat != nil, "locks", config.Lock != nil, "refunds", refunds != nil)
	if play {
		log.Warn("no webhook secret is set: random ones, to play with, hold until the program ends")
	}
	beside.greet(ctx, func() {
		if play {
			settings.AdminAddr = admin.addr()
			printSession(os.Stdout, listener.Addr().String(), settings)
		}
		if settings.DatabaseURL == "" {
			printDesk(os.Stdout, pool.Config().ConnString())
		}
	})
	started := time.Now()
	err = service.Serve(ctx, listener, settings.ShutdownTimeout)
	log.Info("stopped", "after", time.Since(started).Round(time.Second))
	return err
}

// callbacks is the part of a service's configuration that takes callbacks, through
// an inbox.
func callbacks(settings shop.Settings) (config shop.Config, err error) {
	config.Inbox = true
	if config.Standard, config.Stripe, err = settings.Verifiers(); err != nil {
		return config, err
	}
	if config.Alipay, err = settings.Alipay.Verifier(); err != nil {
		return config, err
	}
	config.WeChat, err = settings.WeChat.Verifier()
	return config, err
}

// playSecret is a random secret that both schemes take.
func playSecret() webhook.Secret {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return webhook.NewSecret("whsec_" + base64.StdEncoding.EncodeToString(key))
}

// printSession prints commands to play with, with the secrets of this run. It is
// never called with secrets that someone set.
func printSession(out io.Writer, addr string, settings shop.Settings) {
	counted := ""
	if settings.AdminAddr != "" {
		counted = fmt.Sprintf(operators, settings.AdminAddr)
	}
	// Nobody reads it where it cannot be printed.
	_, _ = fmt.Fprintf(out, session, addr, settings.Stripe[0].Reveal(), settings.Standard[0].Reveal(), counted)
}

// printDesk prints how the runbook is called beside this program. It is never called
// with a URL that someone set: that may have a password of theirs.
func printDesk(out io.Writer, url string) {
	_, _ = fmt.Fprintf(out, desk, url) // as above
}

const desk = `What waits for a person, in the private database of this run, and all else that a
person can do (-h):

  export DATABASE_URL='%s'
  go run ./examples/orders runbook inspect stuck

`

const session = `
To play, in another shell:

  U=http://%[1]s
  O=7f1c9a52-3e0b-4c55-9d5e-0a4f6f3c2b11
  curl -X PUT $U/stock/mug -H "Content-Type: application/json" -d '{"quantity": 10}'
  curl $U/orders -H "Content-Type: application/json" -d '{"order_id": "'$O'", "customer_id": "ann", "sku": "mug", "quantity": 2, "total_cents": 4200}'
  curl $U/orders/$O/pay -H "Content-Type: application/json" -d '{"payment_no": "p-1"}'

A callback, signed by Stripe's scheme:

  B='{"id": "evt_1", "type": "payment.succeeded", "data": {"order_id": "'$O'", "payment_no": "p-1", "amount_cents": 4200}}'
  T=$(date +%%s)
  S=$(printf '%%s' "$T.$B" | openssl dgst -sha256 -hmac '%[2]s' | sed 's/.* //')
  curl -i $U/callbacks/stripe -H "Content-Type: application/json" -H "Stripe-Signature: t=$T,v1=$S" -d "$B"

… and one of another order, by Standard Webhooks:

  Q=7f1c9a52-3e0b-4c55-9d5e-0a4f6f3c2b13
  curl $U/orders -H "Content-Type: application/json" -d '{"order_id": "'$Q'", "customer_id": "ann", "sku": "mug", "quantity": 1, "total_cents": 2100}'
  B='{"id": "evt_2", "type": "payment.succeeded", "data": {"order_id": "'$Q'", "payment_no": "p-2", "amount_cents": 2100}}'
  T=$(date +%%s)
  K=$(printf '%%s' '%[3]s' | sed 's/^whsec_//' | base64 -d | od -An -tx1 | tr -d ' \n')
  S=$(printf '%%s' "msg_1.$T.$B" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$K -binary | base64)
  curl -i $U/callbacks/standard -H "Content-Type: application/json" -H "webhook-id: msg_1" -H "webhook-timestamp: $T" -H "webhook-signature: v1,$S" -d "$B"

The parcel goes out and arrives, and half of the money is to go back:

  curl -X POST $U/orders/$O/ship
  curl -X POST $U/orders/$O/receive
  curl $U/orders/$O/refunds -H "Content-Type: application/json" -d '{"refund_no": "r-1", "amount_cents": 2100}'

… and a quarter more, under a key, as often as you like; and how far that is:

  curl -i $U/orders/$O/refunds -H 'X-Actor: ann' -H 'Idempotency-Key: k-1' -H "Content-Type: application/json" -d '{"refund_no": "r-2", "amount_cents": 1050}'
  curl $U/commands/order.refund/k-1 -H 'X-Actor: ann'

Another order, cancelled; and the first, for which it is too late (409):

  P=7f1c9a52-3e0b-4c55-9d5e-0a4f6f3c2b12
  curl $U/orders -H "Content-Type: application/json" -d '{"order_id": "'$P'", "customer_id": "ann", "sku": "mug", "quantity": 1, "total_cents": 2100}'
  curl -X DELETE $U/orders/$P
  curl -X DELETE $U/orders/$O

What there is to see:

  curl $U/orders/$O
  curl $U/orders/$O/history
%[4]s
All routes, and what they answer: docs/example.md, go doc ./examples/orders/shop

`

const operators = `  curl http://%[1]s/debug/counters
  curl http://%[1]s/metrics
`
