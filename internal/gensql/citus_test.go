package gensql

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/pgparse"
)

func TestCitus(t *testing.T) {
	t.Parallel()
	gate := gates()["text"] // its key is (site, nr)
	order := Schema{Machine: "order", Table: "order", Key: Column{Name: "Id", Type: "uuid"}, Facts: true}
	got := string(Citus([]Schema{gate, order}))
	_, err := pgparse.Parse(got)
	require.NoError(t, err)
	_, calls, found := strings.Cut(got, "'fsm_audit');\n")
	require.True(t, found)
	require.Equal(t, `
-- Machine gate: rows and their history by site.
SELECT create_distributed_table('gates', 'site', colocate_with => 'none');
SELECT create_distributed_table('gate_history', 'site', colocate_with => 'gates');

-- Machine order: rows and their history by Id.
SELECT create_distributed_table('"order"', 'Id', colocate_with => 'none');
SELECT create_distributed_table('order_history', 'Id', colocate_with => '"order"');
-- Facts by identity, so that no two rows can have the same. A trigger on a row's
-- shard cannot delete them on another: they outlive their row.
CREATE OR REPLACE FUNCTION order_forget() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM order_history AS h WHERE h."Id" = OLD."Id";
  RETURN NULL;
END $$;
SELECT create_distributed_table('order_facts', 'identity', colocate_with => 'none');
`, calls)
	require.Equal(t, got, string(Citus([]Schema{gate, order})))
}

func TestCitusOfNoMachine(t *testing.T) {
	t.Parallel()
	got := string(Citus(nil))
	require.True(t, strings.HasSuffix(got, "SELECT citus_add_local_table_to_metadata('fsm_audit');\n"), got)
	require.NotContains(t, got, "create_distributed_table(")
}
