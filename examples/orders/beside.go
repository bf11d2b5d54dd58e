package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/examples/orders/shop"
)

// beside is what a newcomer has beside the service: the studio, and a storm at the press
// of its button. The service does not know of either.
type beside struct {
	studio *studio
	button *button // nil for no storm
	press  string  // its address
	end    context.CancelFunc
	done   sync.WaitGroup
}

// openBeside starts the studio, where the settings say so, and has a storm wait for its
// button: in a run to play with alone, where an operator's port has room for it. A
// service whose secrets somebody has set has customers of its own.
func openBeside(ctx context.Context, settings shop.Settings, play bool, pool *pgxpool.Pool, listener net.Listener, admin *admin, log *slog.Logger) (*beside, error) {
	ctx, end := context.WithCancel(ctx)
	b := &beside{end: end}
	if play && admin.listener != nil {
		live, button, err := newButton(settings, listener.Addr().String(), log)
		if err != nil {
			end()
			return nil, err
		}
		b.button, b.press = button, button.url(admin.addr())
		b.done.Go(func() { live.Run(ctx) })
	}
	b.studio = openStudio(ctx, settings, pool, b.press, log)
	return b, nil
}

// greet prints where the studio is and what to press, and then the rest. It returns at
// once: the studio has to read the definitions first.
func (b *beside) greet(ctx context.Context, rest func()) {
	b.done.Go(func() {
		address, _ := b.studio.opened(ctx)
		if ctx.Err() != nil {
			return
		}
		printBeside(os.Stdout, address, b.press)
		rest()
	})
}

// close ends both, and returns when nothing of them is left.
func (b *beside) close() {
	b.end()
	b.studio.close()
	b.done.Wait()
}

// printBeside prints what there is of address and press.
func printBeside(out io.Writer, address, press string) {
	// Nobody reads it where it cannot be printed.
	if u, err := url.Parse(address); address != "" && err == nil {
		u.Path = "/m/order/live"
		_, _ = fmt.Fprintf(out, watch, u)
		if press != "" {
			_, _ = fmt.Fprint(out, pressIt)
		}
	}
	if press != "" {
		_, _ = fmt.Fprintf(out, stormIt, press)
	}
}

const watch = `
The studio, with the lifecycles of this shop and the rows that live in them. Open it first:

  %s
`

const pressIt = `
Press "Storm" at its top, and watch.`

const stormIt = `
A storm: for half a minute orders are placed, and paid by callbacks that are told twice and
more, late, out of order, with wrong amounts and by forgers. Duplicates bounce off. The same
without the button, as often as you like:

  curl -X POST %s
`
