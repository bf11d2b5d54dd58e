package token_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/token"
)

// signUp is a kind of token for a form that takes half an hour at most.
var signUp = token.Kind{Name: "signup", TTL: 30 * time.Minute, Keep: 24 * time.Hour}

// form is the page's handler: the text goes into a hidden field of the form.
func form(ctx context.Context, db fsm.DB, customer, course string) (string, error) {
	t, err := token.Issue(ctx, db, signUp, customer, "sign up for "+course)
	if err != nil {
		return "", err
	}
	return t.Reveal(), nil
}

// submit is the handler of what the form sends, as often as it is sent.
func submit(ctx context.Context, db fsm.TxBeginner, text, customer, course string) (status int, body string) {
	r, err := token.Use(ctx, db, token.From(text), customer, "sign up for "+course,
		func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
			var seat int64
			err := tx.QueryRow(ctx, `INSERT INTO seats (course, customer) VALUES ($1, $2) RETURNING id`, course, customer).Scan(&seat)
			return fmt.Appendf(nil, "seat %d", seat), err
		})
	switch {
	case err == nil:
		return http.StatusOK, string(r.Reply)
	case errors.Is(err, token.ErrInvalid):
		var why *token.InvalidError
		if errors.As(err, &why) {
			fmt.Fprintln(os.Stderr, "token refused:", why.Reason) // for the log, not for the answer
		}
		return http.StatusForbidden, "please open the form again"
	case errors.Is(err, fsm.ErrArgument):
		return http.StatusBadRequest, "bad request"
	}
	return http.StatusServiceUnavailable, "please send the form again"
}

func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	hidden, err := form(ctx, pool, "customer:1", "pottery")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(submit(ctx, pool, hidden, "customer:1", "pottery")) // 200 seat 1
	fmt.Println(submit(ctx, pool, hidden, "customer:1", "pottery")) // the same, and one seat is taken
	fmt.Println(submit(ctx, pool, hidden, "customer:2", "pottery")) // 403 please open the form again
}

// What the example says is what happens.
func TestExample(t *testing.T) {
	t.Parallel()
	pool := open(t)
	_, err := pool.Exec(t.Context(), `CREATE TABLE seats (id bigint GENERATED ALWAYS AS IDENTITY, course text, customer text)`)
	require.NoError(t, err)
	hidden, err := form(t.Context(), pool, "customer:1", "pottery")
	require.NoError(t, err)
	for _, tc := range []struct {
		text, customer, course string
		status                 int
		body                   string
	}{
		{hidden, "customer:1", "pottery", 200, "seat 1"},
		{hidden, "customer:1", "pottery", 200, "seat 1"},
		{hidden, "customer:2", "pottery", 403, "please open the form again"},
		{hidden, "customer:1", "painting", 403, "please open the form again"},
		{"guessed", "customer:1", "pottery", 403, "please open the form again"},
		{hidden, "", "pottery", 400, "bad request"},
	} {
		status, body := submit(t.Context(), pool, tc.text, tc.customer, tc.course)
		require.Equal(t, tc.status, status)
		require.Equal(t, tc.body, body)
	}
	require.Equal(t, 1, count(t, pool, `SELECT count(*) FROM seats`))
}
