package gensql_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensql"
)

// cut is the door with its history in partitions.
func cut(history string) string {
	return strings.Replace(door, "  columns:", "  history: "+history+"\n  columns:", 1)
}

// The migration and its way back, and what a definition without the key has.
func TestAPartitionedHistoryIsMade(t *testing.T) {
	t.Parallel()
	whole, files := fstest.MapFS{}, fstest.MapFS{}
	require.Empty(t, land(t, whole, door))
	require.NotContains(t, string(whole[name(1)].Data), "PARTITION")
	require.NotContains(t, string(whole[name(1)].Data), `"history"`)

	require.Empty(t, land(t, files, cut("{partition: week}")))
	text := string(files[name(1)].Data)
	require.Contains(t, text, "PRIMARY KEY (door_id, version, at)")
	require.Contains(t, text, `"history":{"unit":"week"}`)
	s := standing(t, files)
	s.up(1)
	s.says(`SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname = 'door_history_rest'`, "DEFAULT")
	s.says(`SELECT count(*)::text FROM pg_inherits WHERE inhparent = 'door_history'::regclass`, "5") // this one, three more and the rest
	s.down(0)
	require.Empty(t, shape(t, s.db), "nothing is left, partitions neither")
}

// Another time to keep is another function; an unchanged one is nothing.
func TestTheTimeToKeepChanges(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	land(t, files, cut("{partition: month, keep: 400d}"))
	content, problems := next(t, files, cut("{partition: month, keep: 400d}"))
	require.Nil(t, content)
	require.Empty(t, problems)
	require.Empty(t, land(t, files, cut("{partition: month, keep: 30d}")))
	require.Empty(t, land(t, files, cut("{partition: month}")))
	s := standing(t, files)
	s.up(1)
	first := shape(t, s.db)
	require.Contains(t, first, "interval '400 days'")
	s.up(2)
	require.Contains(t, shape(t, s.db), "interval '30 days'")
	s.up(3)
	require.Contains(t, shape(t, s.db), "oldest CONSTANT timestamptz := '-infinity'")
	s.down(1)
	require.Equal(t, first, shape(t, s.db))
}

// To cut a history that is there in another way is not for a migration that
// is generated.
func TestAnotherCutIsRefused(t *testing.T) {
	t.Parallel()
	const way = "before, and its entries do not move by themselves; docs/history.md of Pawl shows how to attach what is there as one partition; migrate it by hand (see fsmgen rules FSM090)\n"
	for _, c := range []struct{ was, is, want string }{
		{door, cut("{partition: month}"), "door.yaml:5:12: FSM090 error the history was one whole table " + way},
		{cut("{partition: month}"), cut("{partition: day}"), "door.yaml:5:12: FSM090 error the history was in partitions of a month " + way},
		{cut("{partition: month}"), door, "door.yaml:3:9: FSM090 error the history was in partitions of a month " + way},
	} {
		files := fstest.MapFS{}
		land(t, files, c.was)
		content, problems := next(t, files, c.is)
		require.Nil(t, content)
		require.Equal(t, c.want, told(problems))
	}
}

var sqlOfPage = regexp.MustCompile("(?s)```sql\n(.*?)```")

// What the page says of a history that is there works: statement by statement
// beforehand, then one migration, and the entries of before are where they were.
func TestAHistoryIsCutByHand(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/history.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## A history that is there")
	require.True(t, found)
	blocks := sqlOfPage.FindAllStringSubmatch(section, -1)
	require.Len(t, blocks, 2)
	now := time.Now().UTC()
	bound := time.Date(now.Year(), now.Month()+2, 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) + " 00:00:00+00"
	ours := strings.NewReplacer("order", "door", "2027-01-01 00:00:00+00", bound)
	before, migration := ours.Replace(blocks[0][1]), ours.Replace(blocks[1][1])

	files, fresh := fstest.MapFS{}, fstest.MapFS{}
	land(t, files, door)
	land(t, fresh, cut("{partition: month}"))
	_, made, _ := strings.Cut(string(fresh[name(1)].Data), "-- A unique index over partitions")
	made, rest, _ := strings.Cut("-- A unique index over partitions"+made, "CREATE FUNCTION door_history_keep(")
	last, _, _ := strings.Cut(rest, "-- +goose StatementEnd\n")
	made += "CREATE FUNCTION door_history_keep(" + last + "-- +goose StatementEnd\n"
	prev := schema(t, files)
	mark, err := gensql.Mark(machine(t, cut("{partition: month}")), &prev)
	require.NoError(t, err)
	const here, model = "-- … the statements of door_history, to the StatementEnd behind door_history_keep\n", "-- fsmgen:model …\n"
	require.Contains(t, migration, here)
	require.Contains(t, migration, model)
	files[name(2)] = &fstest.MapFile{Data: []byte(strings.NewReplacer(here, made, model, mark+"\n").Replace(migration))}

	s := standing(t, files)
	s.up(1)
	s.may(`INSERT INTO doors (door_id, status, version, colour) VALUES (1, 'OPEN', 1, 'red')`)
	s.may(`INSERT INTO door_history (door_id, version, event, to_status, at) VALUES (1, 1, 'create', 'OPEN', '2020-02-02')`)
	for statement := range strings.SplitSeq(before, ";\n") {
		if strings.TrimSpace(statement) != "" {
			s.may(statement)
		}
	}
	s.up(2)
	s.may(`INSERT INTO door_history (door_id, version, event, to_status, at) VALUES (1, 2, 'shut', 'SHUT', '` + bound + `')`)
	s.says(`SELECT string_agg(tableoid::regclass || ' ' || version, ', ' ORDER BY version) FROM door_history`,
		"door_history_whole 1, door_history_"+strings.ReplaceAll(bound[:10], "-", "")+" 2")
	s.says(`SELECT count(*)::text FROM door_history_keep(now())`, "0")
	content, problems := next(t, files, cut("{partition: month}"))
	require.Nil(t, content, "the migration by hand is where generate goes on")
	require.Empty(t, problems)
}
