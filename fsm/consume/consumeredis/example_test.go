package consumeredis_test

import (
	"fmt"

	"github.com/redis/rueidis"

	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/consume/consumeredis"
)

// The front is made without Redis being there, and asked only for what it may know.
func Example() {
	front, err := consumeredis.New(
		rueidis.ClientOption{InitAddress: []string{"localhost:6379"}},
		consumeredis.Options{},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer front.Close()
	consumer := consume.Consumer{Name: "shipping", Front: front} // and DB, Lease, Tries
	fmt.Println(consumer.Name, front.Counts())
	// Output: shipping {0 0 0 0}
}
