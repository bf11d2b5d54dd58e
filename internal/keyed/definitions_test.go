package keyed

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/mutate"
)

// machines are those of this repository's definitions, each with its tables. Facts
// go by identity, as they must to stay unique. Outbox and audit have the key as text.
var machines = map[string][]Table{
	"article": {{"articles", "article_id"}, {"article_history", "article_id"}},
	"order":   {{"orders", "order_id"}, {"order_history", "order_id"}, {"order_facts", "identity"}},
	"payment": {{"payments", "payment_no"}, {"payment_history", "payment_no"}, {"payment_facts", "identity"}},
	"refund":  {{"refunds", "refund_no"}, {"refund_history", "refund_no"}, {"refund_facts", "identity"}},
}

var shared = []Table{{"fsm_outbox", "key"}, {"fsm_audit", "key"}}

// The exceptions. A statement that is in none of these lists works on one shard, that
// of the key which it is called with.
var (
	// identified look up a fact and write one, on the shard of its identity too.
	identified = map[string]string{
		"OrderPaymentSucceeded": "payment_no",
		"OrderPaymentFailed":    "payment_no",
		"OrderRefund":           "refund_no",
		"OrderRefundSucceeded":  "refund_no",
		"OrderRefundFailed":     "refund_no",
		"PaymentSucceed":        "provider_ref",
		"RefundSucceed":         "provider_ref",
	}
	// batches have a key, and perhaps an identity, for each item.
	batches = []string{
		"ArticlePublishBatch", "ArticleArchiveBatch", "ArticleLockRows", "ArticleHeldRows",
		"OrderPayBatch", "OrderQueryPaymentBatch", "OrderQueryRefundBatch", "OrderExpireBatch", "OrderPaymentSucceededBatch",
		"OrderPaymentFailedBatch", "OrderCancelBatch", "OrderShipBatch", "OrderReceiveBatch", "OrderRefundBatch",
		"OrderRefundSucceededBatch", "OrderRefundFailedBatch", "OrderLockRows", "OrderHeldRows",
		"PaymentSubmitBatch", "PaymentQueryBatch", "PaymentCloseBatch", "PaymentSucceedBatch", "PaymentFailBatch", "PaymentLockRows", "PaymentHeldRows",
		"RefundSendBatch", "RefundQueryBatch", "RefundRetryBatch", "RefundSucceedBatch", "RefundCloseBatch", "RefundStickBatch", "RefundLockRows", "RefundHeldRows",
	}
	// sweeps look for what is due, wherever it is.
	sweeps = []string{
		"OrderSweepQueryPayment", "OrderSweepQueryRefund", "OrderSweepExpire", "OrderSweepReceive",
		"PaymentSweepQuery", "PaymentSweepClose",
		"RefundSweepSend", "RefundSweepQuery",
	}
)

// load reads them once, which takes a while.
var load = sync.OnceValues(func() ([]*mutate.Source, error) { return mutate.Load(os.DirFS("../..")) })

// statements are those that the definitions make.
func statements(t *testing.T) []*mutate.Source {
	t.Helper()
	sources, err := load()
	require.NoError(t, err)
	return slices.DeleteFunc(slices.Clone(sources), func(s *mutate.Source) bool { return s.Migration })
}

// references are those of a statement to its machine's tables and the shared ones.
func references(t *testing.T, s *mutate.Source, text string) []Reference {
	t.Helper()
	refs, err := References(text, slices.Concat(machines[s.Machine], shared))
	require.NoError(t, err, s.Name)
	require.NotEmpty(t, refs, s.Name)
	return refs
}

// wants is what a reference of a statement has to be.
func wants(statement, table string) string {
	by, way := "fsm_key", " by "
	if slices.Contains(batches, statement) {
		way = " by each "
	}
	if identity := identified[strings.TrimSuffix(statement, "Batch")]; identity != "" && strings.HasSuffix(table, "_facts") {
		by = identity
	}
	if slices.Contains(sweeps, statement) {
		return table + " anywhere"
	}
	return table + way + by
}

func TestEachStatementIsKeyed(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, s := range statements(t) {
		require.Contains(t, machines, s.Machine, "which tables has it?")
		names[s.Name] = true
		facts := false
		for _, r := range references(t, s, s.Text) {
			require.Equal(t, wants(s.Name, r.Table), r.String(), "%s:%d: %s", s.File, s.Line, s.Name)
			facts = facts || strings.HasSuffix(r.Table, "_facts")
		}
		require.Equal(t, identified[strings.TrimSuffix(s.Name, "Batch")] != "", facts, "%s has facts, or the list says so", s.Name)
	}
	for name := range identified {
		require.Contains(t, names, name)
	}
	for _, name := range slices.Concat(batches, sweeps) {
		require.Contains(t, names, name)
	}
}

// The page about many databases says how many there are of each.
func TestThePageCountsTheExceptions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/scale.md")
	require.NoError(t, err)
	for what, n := range map[string]int{"events with an identity": len(identified), "batches, `LockRows` and `HeldRows`": len(batches), "sweeps of deadlines": len(sweeps)} {
		require.Contains(t, string(page), fmt.Sprintf("| %s (%d) |", what, n))
	}
}

// Nothing of the definitions was left out.
func TestEveryDefinitionIsLookedAt(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../definitions/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, len(machines))
	for _, f := range files {
		require.Contains(t, machines, strings.TrimSuffix(filepath.Base(f), ".yaml"))
	}
	for _, s := range statements(t) {
		for _, table := range regexp.MustCompile(`(?:FROM|JOIN|INTO|UPDATE) (\w+)`).FindAllStringSubmatch(s.Text, -1) {
			known := slices.ContainsFunc(slices.Concat(machines[s.Machine], shared), func(k Table) bool { return k.Name == table[1] })
			part := strings.Contains(s.Text, table[1]+" AS ") // of WITH
			require.True(t, known || part || table[1] == "LATERAL" || table[1] == "OF", "%s: %s", s.Name, table[0])
		}
	}
}

// condition is where a statement of the payment machine says which rows it means: an
// equation of a table's key or identity, or a value that goes into one of its columns.
var condition = regexp.MustCompile(`\b(?:[oh]\.payment_no|f\.identity) = [\w.@:]+|` +
	`(?:_history \(\w+,[^)]*\)\n +SELECT |_facts \(event,[^)]*\)\n +SELECT '\w+', |fsm_(?:outbox|audit) \([^)]*\)\n +SELECT '\w+', )[\w.@:]+`)

// Without any one of them a statement is noticed.
func TestAStatementWithoutItsKeyIsNoticed(t *testing.T) {
	t.Parallel()
	removed := 0
	for _, s := range statements(t) {
		if s.Machine != "payment" || slices.Contains(sweeps, s.Name) {
			continue
		}
		for _, at := range condition.FindAllStringIndex(s.Text, -1) {
			without := "true"
			if head := strings.LastIndex(s.Text[at[0]:at[1]], " "); strings.Contains(s.Text[at[0]:at[1]], "SELECT") {
				without = s.Text[at[0]:at[0]+head] + " NULL"
			}
			noticed := slices.ContainsFunc(references(t, s, s.Text[:at[0]]+without+s.Text[at[1]:]), func(r Reference) bool {
				return r.String() != wants(s.Name, r.Table)
			})
			require.True(t, noticed, "%s without %q", s.Name, s.Text[at[0]:at[1]])
			removed++
		}
	}
	require.Greater(t, removed, 60, "the conditions are no longer found")
}
