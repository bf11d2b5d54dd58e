package relaywatermill_test

import (
	"context"
	"fmt"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/fsm/relay/relaywatermill"
)

// A broker's Publisher of Watermill takes the place of printing.
func ExamplePublisher() {
	p := &relaywatermill.Publisher{
		Publisher: publisher(func(topic string, msg *message.Message) error {
			fmt.Println(topic, msg.UUID)
			fmt.Println(msg.Metadata.Get("key"), msg.Metadata.Get("version"), string(msg.Payload))
			return nil
		}),
		Topic: func(m relay.Message) string { return "shop." + m.Topic },
	}
	err := p.Publish(context.Background(), relay.Message{
		ID: "0d3e9b1c", Machine: "order", Key: "42", Version: 3, Event: "ship", Topic: "order_shipped", Payload: []byte(`{}`), At: time.UnixMicro(1),
	})
	fmt.Println(err)
	// Output:
	// shop.order_shipped 0d3e9b1c
	// 42 3 {}
	// <nil>
}
