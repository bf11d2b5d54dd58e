package gensql

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pgparse"
)

func TestCitus(t *testing.T) {
	t.Parallel()
	gate := gates()["text"] // its key is (site, nr)
	order := Schema{Machine: "order", Table: "order", Key: Column{Name: "Id", Type: "uuid"}, Facts: true}
	got := string(Citus([]Schema{gate, order}))
	_, err := pgparse.Parse(got)
	require.NoError(t, err)
	_, calls, found := strings.Cut(got, "'fsm_audit'::regclass);\n")
	require.True(t, found)
	require.Equal(t, `
-- Machine gate: rows and their history by site.
SELECT create_distributed_table('gates', 'site', colocate_with => 'none')
  WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'gates'::regclass);
SELECT create_distributed_table('gate_history', 'site', colocate_with => 'gates')
  WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'gate_history'::regclass);

-- Machine order: rows and their history by Id.
SELECT create_distributed_table('"order"', 'Id', colocate_with => 'none')
  WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '"order"'::regclass);
SELECT create_distributed_table('order_history', 'Id', colocate_with => '"order"')
  WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'order_history'::regclass);
-- Facts by identity, so that no two rows can have the same. A trigger on a row's
-- shard cannot delete them on another: they outlive their row.
CREATE OR REPLACE FUNCTION order_forget() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM order_history AS h WHERE h."Id" = OLD."Id";
  RETURN NULL;
END $$;
SELECT create_distributed_table('order_facts', 'identity', colocate_with => 'none')
  WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'order_facts'::regclass);
`, calls)
	require.Equal(t, got, string(Citus([]Schema{gate, order})))
}

func TestCitusOfNoMachine(t *testing.T) {
	t.Parallel()
	got := string(Citus(nil))
	require.True(t, strings.HasSuffix(got, "SELECT citus_add_local_table_to_metadata('fsm_audit')\n  WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'fsm_audit'::regclass);\n"), got)
	require.NotContains(t, got, "create_distributed_table(")
}

func TestAPartitionedHistoryIsNotDistributed(t *testing.T) {
	t.Parallel()
	var problems diag.List
	Distributable(&model.Machine{Name: "door"}, &problems)
	Distributable(&model.Machine{Name: "door", Table: &model.Table{}}, &problems)
	require.Empty(t, problems.Sorted())
	Distributable(&model.Machine{Name: "door", Table: &model.Table{History: &model.History{Partition: "month"}}}, &problems)
	require.Len(t, problems.Sorted(), 1)
	require.Equal(t, CodeDistribution, problems.Sorted()[0].Code)
}
