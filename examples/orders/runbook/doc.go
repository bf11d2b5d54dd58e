// Package runbook is what a person on call does about a record that is stuck: look
// at it, free it, or settle it by hand. It is a command of the orders example, for
// the orders of its shop and for the tables of the packages beside fsm.
// Its [Usage] lists what there is.
//
// inspect looks at records, release frees one, so that the program goes on with it,
// and complete settles one by hand.
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
