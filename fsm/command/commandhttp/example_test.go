package commandhttp_test

import (
	"log"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/command/commandhttp"
)

// A handler takes its transaction from the context; the rest is as ever.
func ExampleNew() {
	var pool *pgxpool.Pool // the service's own

	once, err := commandhttp.New(commandhttp.Options{
		Command: &command.Command{Name: "orders.pay"},
		DB:      pool,
		Caller: func(r *http.Request) (commandhttp.Caller, error) {
			user, _, _ := r.BasicAuth() // checked before
			return commandhttp.Caller{Scope: user}, nil
		},
	})
	if err != nil {
		log.Println(err)
		return
	}
	pay := func(w http.ResponseWriter, r *http.Request) {
		tx, ok := commandhttp.Tx(r.Context())
		if !ok {
			http.Error(w, "no transaction", http.StatusInternalServerError)
			return
		}
		if _, err := tx.Exec(r.Context(), `INSERT INTO payments (order_id) VALUES ($1)`, r.PathValue("id")); err != nil {
			http.Error(w, "try again", http.StatusServiceUnavailable) // undone, and not kept
			return
		}
		w.WriteHeader(http.StatusCreated)
	}
	http.Handle("POST /orders/{id}/pay", once(http.HandlerFunc(pay)))
}
