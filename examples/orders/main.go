// Command orders is a small shop on Pawl's generated machines: an HTTP service
// to copy from, and a demo that storms it with payment callbacks.
//
//	go run ./examples/orders serve    the service, up to play with
//	go run ./examples/orders demo     the storm, and what it did
//	go run ./examples/orders runbook  look at a record that is stuck, and free it
//
// What the service does is package shop's business, the storm package storm's, and
// what a person does about stuck records package runbook's.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: orders serve    run the service, and print commands to play with
       orders demo     storm it with callbacks and count what went wrong
                       (orders demo -h: its flags)
       orders runbook  look at a stuck record of DATABASE_URL, release or complete it

All routes of the service, and its answers: go doc ./examples/orders/shop
Its settings, from the environment: go doc ./examples/orders/shop.Settings
What the runbook can do: orders runbook -h
All of it in prose: docs/example.md`

func main() { os.Exit(run(os.Args[1:])) }

// run returns the exit code: 0 fine, 1 failed, 2 a wrong call.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// From the first signal on the default holds again, so that a second one
	// ends a stop that hangs.
	context.AfterFunc(ctx, stop)

	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "serve":
		if len(args) == 1 {
			return serve(ctx)
		}
	case "demo":
		return demo(ctx, args[1:])
	case "runbook":
		return lookAfter(ctx, os.Getenv("DATABASE_URL"), os.Stdout, args[1:])
	}
	_, _ = fmt.Fprintln(os.Stderr, usage)
	return 2
}
