package relay

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-go/pawl/fsm/internal/sleep"
)

// Channel is the one on which the trigger fsm_outbox_notify tells of new rows.
const Channel = "fsm_outbox"

// listen wakes Run when it is told of rows, until ctx ends. While there is no
// connection, polling goes on alone.
func (r *Relay) listen(ctx context.Context) {
	for {
		if err := r.listenOnce(ctx); ctx.Err() == nil {
			r.failed(err)
		}
		if sleep.For(ctx, pause(r.every(), len(pauses))) != nil {
			return
		}
	}
}

func (r *Relay) listenOnce(ctx context.Context) error {
	conn, err := r.Listen(ctx)
	if err != nil {
		return fmt.Errorf("relay: listen: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // it listened, and no more
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+Channel); err != nil {
		return fmt.Errorf("relay: listen: %w", err)
	}
	r.Wake() // for what was written before
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return fmt.Errorf("relay: listen: %w", err)
		}
		r.Wake()
	}
}
