package fsm

import "context"

// maxWaits is how many more times a statement is run that has waited in vain, for
// rows of which others are held each time.
const maxWaits = 3

// pass goes on when a statement has waited in vain: it answers with its error the
// items of those rows that others hold just now, however many they are, and fires
// the other rows without them.
//
// Where none is held, the holder may have let go, and the statement is run once
// more. If that waits in vain too, what is held is no row but a fact, which somebody
// writes for another row: its halves are run, and theirs, until that item alone has
// the error.
func (r *batchRun[K, P, S, R]) pass(ctx context.Context, rows []*batchRow[K], waits int, err error) error {
	if len(rows) == 1 {
		r.giveUp(rows, err)
		return nil
	}
	free, held, asking := r.part(ctx, rows)
	if asking != nil {
		return r.failed(rows, err)
	}
	r.giveUp(held, err)
	switch {
	case len(free) == 0:
		return nil
	case len(held) == 0 && waits > 0:
		return r.halves(ctx, rows, waits)
	case waits == maxWaits:
		r.giveUp(free, err)
		return nil
	}
	return r.statement(ctx, free, waits+1)
}

// part asks which rows are free, and which are held by others.
func (r *batchRun[K, P, S, R]) part(ctx context.Context, rows []*batchRow[K]) (free, held []*batchRow[K], err error) {
	positions, err := r.Held(ctx, r.db, keysOf(rows))
	if err != nil {
		return nil, nil, err
	}
	is := make(map[int32]bool, len(positions))
	for _, n := range positions {
		is[n] = true
	}
	for i, row := range rows {
		if is[int32(i)] {
			held = append(held, row)
		} else {
			free = append(free, row)
		}
	}
	return free, held, nil
}

// giveUp answers all items of rows that wait for somebody else.
func (r *batchRun[K, P, S, R]) giveUp(rows []*batchRow[K], err error) {
	err = r.error(kindOf(err), err)
	for _, row := range rows {
		for _, n := range row.waiting {
			r.results[n].Err = err
		}
		row.waiting = nil
	}
}
