// Package runbook is what a person on call does about a record that is stuck: look
// at it, free it, or settle it by hand. It is a command of the orders example, for
// the orders of its shop and for the tables of the packages beside fsm.
//
//	inspect stuck                    all that waits for a person
//	inspect inbox                    events parked or dead, and odd deliveries
//	inspect order ID                 an order and all that hangs on it
//	inspect command KEY              the commands of an Idempotency-Key
//	inspect outbox MACHINE/KEY       the messages of a row of business
//	inspect event NUMBER             an event of the inbox, and its deliveries
//	inspect case NUMBER              a case of the shop
//	inspect letter NUMBER            a dead letter of a consumer
//	inspect attempt ID               a call to a provider
//	inspect refund NUMBER            a refund and its call to the provider
//
//	release outbox MACHINE/KEY       try its first message again, at once
//	release event NUMBER             process it again, at once
//	release letter NUMBER            free its key, and deliver its message again
//	release attempt ID               look it up at the provider again
//	release refund NUMBER            let an abnormal one go on, its attempt too
//
//	complete order ID STATE          force it into a state, free of the machine's edges
//	complete outbox MACHINE/KEY ROW  set its first message aside, undelivered
//	complete event NUMBER            close it unprocessed
//	complete case NUMBER             be done with it
//	complete letter NUMBER           be done with it
//	complete attempt ID succeeded REF
//	complete attempt ID refused CODE the provider's answer, learnt in another way
//
// release and complete demand -actor and -reason, and leave a row in fsm_audit,
// as that of the package itself where it writes one. Nothing here goes around a
// package: what it refuses, such as an attempt that is not stuck, is refused.
//
// To process an event of the inbox again needs the shop's handlers: the command has
// them, with the service's own settings in its environment. Of Standard Webhooks and
// of Stripe's scheme none are needed; of Alipay and WeChat Pay those that the
// callback was taken in by. Migrations are not run.
package runbook
