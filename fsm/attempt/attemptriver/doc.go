// Package attemptriver drives provider calls (package attempt) on River
// (https://riverqueue.com): [Start] makes the attempt and its job in the caller's
// transaction, a worker drives the attempt, River's retry policy says when again,
// and a periodic job drives what was left lying.
//
// River holds the schedule, fsm_attempts the truth. A job that is lost, run
// twice or rescued too early costs a round and never a second payment, since
// every round claims the attempt under a lease first.
//
//	workers := river.NewWorkers()
//	err := attemptriver.AddWorkers(workers, pool, refunds, payouts)
//	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
//		Workers:      workers,
//		Queues:       map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 20}},
//		PeriodicJobs: []*river.PeriodicJob{attemptriver.Periodic(time.Minute)},
//	})
package attemptriver
