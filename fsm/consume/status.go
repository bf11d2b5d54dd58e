package consume

import "context"

// Status returns what is known of a key: "claimed" while it is in progress, "failed"
// while its message is awaited again, which includes a claim whose lease has ended,
// "done", "dead", or "" for a key that is new or was swept; and how often it was tried.
func (c *Consumer) Status(ctx context.Context, key string) (state string, tries int, err error) {
	if err := c.check(); err != nil {
		return "", 0, err
	}
	if err := checkKey(key); err != nil {
		return "", 0, err
	}
	rows, err := c.read(ctx, []string{key})
	r := rows[key]
	if r.state == stateClaimed && !r.held {
		r.state = stateFailed
	}
	return r.state, r.tries, told("read claim", err)
}
