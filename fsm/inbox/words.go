package inbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Words returns a Handler for events whose status word the definition maps. word
// is the event's, Event.Status say; meaning is the generated function of the map,
// such as payment.AlipayEvent; fire calls the machine with what it means. A word
// that means nothing to do (Kept) is Ignored. One that the definition does not
// list makes the event dead, for a person: when the definition has learned the
// word, replay it.
func Words[E ~string](word func(Event) string, meaning func(word string) (E, error), fire func(ctx context.Context, tx pgx.Tx, e Event, means E) (fsm.Outcome, error)) Handler {
	return func(ctx context.Context, tx pgx.Tx, e Event) (fsm.Outcome, error) {
		means, err := meaning(word(e))
		if err != nil {
			return "", fmt.Errorf("status of %s: %w", e.Provider, err)
		}
		if means == "" {
			return fsm.Ignored, nil
		}
		return fire(ctx, tx, e, means)
	}
}
