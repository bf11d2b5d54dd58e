package shop

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// tallied is the pool as the inbox has it: the inbox commits what its handler did,
// and only what was committed is counted.
type tallied struct {
	*pgxpool.Pool
	service *Service
}

// BeginTx begins a transaction that counts what it was told to when it commits.
func (p tallied) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	tx, err := p.Pool.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	return &talliedTx{Tx: tx, service: p.service}, nil
}

type talliedTx struct {
	pgx.Tx
	service *Service
	seen    tally
}

// Commit commits, and counts what was seen only then.
func (t *talliedTx) Commit(ctx context.Context) error {
	err := t.Tx.Commit(ctx)
	if err == nil {
		t.service.count(t.seen)
	}
	return err
}
