package randommachine_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
)

type (
	item        = fsm.Item[string, values]
	batchResult = fsm.BatchResult[string, row]
	batchCall   = fsm.BatchCall[string, values]
)

// batch fires an event on many rows. Its keys are canonical.
func (c caller) batch(ctx context.Context, db fsm.DB, e *model.Event, items []item, options ...fsm.Option) ([]batchResult, error) {
	info := c.info(e)
	writes := len(c.m.Moves(e)) > 0 || e.Compensates()
	b := &fsm.Batch[string, values, string, row]{
		Event: info, Facts: len(e.Identity) > 0 && writes, Guards: guardsOf(e),
		Check: func(key string, v values) error { return c.check(info, e, strings.Split(key, "\x00"), v) },
		Run: func(ctx context.Context, db fsm.DB, b *batchCall) ([]batchAnswer, error) {
			v := values{
				"fsm_n": b.N, "fsm_now": b.Now, "fsm_version": b.Versions, "fsm_expects": b.Expects,
				"fsm_actor": b.Actors, "fsm_reason": b.Reasons, "fsm_request_id": b.RequestIDs,
			}
			if err := c.giveAll(v, b.Keys); err != nil {
				return nil, err
			}
			for _, p := range e.Params {
				all, has := make([]any, len(b.Params)), make([]bool, len(b.Params))
				for i := range b.Params {
					all[i] = b.Params[i][p.Name]
					has[i] = all[i] != nil
				}
				v[p.Name], v["fsm_has_"+p.Name] = array(p.Type, all, false), has
			}
			return c.query(ctx, db, gensql.QueryName(c.m, e.Ident+"Batch"), v)
		},
		Lock: func(ctx context.Context, db fsm.DB, keys []string) error {
			v := values{}
			if err := c.giveAll(v, keys); err != nil {
				return err
			}
			rows, err := c.rows(ctx, db, gensql.QueryName(c.m, "LockRows"), v)
			if err != nil {
				return err
			}
			rows.Close()
			return rows.Err()
		},
		Held: func(ctx context.Context, db fsm.DB, keys []string) ([]int32, error) {
			v := values{"fsm_n": fsm.Positions(len(keys))}
			if err := c.giveAll(v, keys); err != nil {
				return nil, err
			}
			answers, err := c.query(ctx, db, gensql.QueryName(c.m, "HeldRows"), v)
			held := make([]int32, len(answers))
			for i, a := range answers {
				held[i] = a.N
			}
			return held, err
		},
	}
	return fsm.FireBatch(ctx, db, b, items, options)
}

// giveAll adds the keys of a batch to what is sent.
func (c caller) giveAll(to values, keys []string) error {
	for i, k := range c.m.Table.Keys {
		all := make([]any, len(keys))
		for n, key := range keys {
			part := strings.Split(key, "\x00")[i]
			v, err := sent(k.Type, &part, true)
			if err != nil {
				return err
			}
			all[n] = v
		}
		to[c.keyArg(i)] = array(k.Type, all, true)
	}
	return nil
}

// array is the typed slice that generated code makes of values; what is not given is
// the type's zero.
func array(of model.Type, all []any, key bool) any {
	switch of.Kind {
	case model.KindInt16:
		return sliceOf[int16](all)
	case model.KindInt32:
		return sliceOf[int32](all)
	case model.KindInt64:
		return sliceOf[int64](all)
	case model.KindBool:
		return sliceOf[bool](all)
	case model.KindFloat64:
		return sliceOf[float64](all)
	case model.KindTime:
		return sliceOf[time.Time](all)
	case model.KindNumeric:
		return sliceOf[pgtype.Numeric](all)
	case model.KindDate:
		if !key {
			return sliceOf[pgtype.Date](all)
		}
	case model.KindJSON, model.KindBytes:
		return sliceOf[[]byte](all)
	}
	return sliceOf[string](all)
}

func sliceOf[T any](all []any) []T {
	out := make([]T, len(all))
	for i, v := range all {
		if v != nil {
			is, ok := v.(T)
			if !ok {
				panic(fmt.Sprintf("%T is no %T", v, out[i]))
			}
			out[i] = is
		}
	}
	return out
}
