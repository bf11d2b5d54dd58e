package genroles

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/sqlname"
)

// relationNames are those of all tables and sequences here.
func (p *plan) relationNames() []string {
	list := make([]string, len(p.relations))
	for i, r := range p.relations {
		list[i] = r.name
	}
	return list
}

// parts takes away what there was on what belongs to the tables, which nobody needs
// to be given: partitions, which their histories give access to, those of days to
// come too, and the sequences of identities. Of goose's table it leaves SELECT.
func (p *plan) parts() string {
	n := p.names
	all := n.everyone() + ", " + n.Writer
	return fmt.Sprintf(`
-- What belongs to those tables: partitions, and sequences of identities. Nobody needs
-- rights on them.
DO $$
DECLARE
  relation regclass;
BEGIN
  FOR relation IN
    SELECT o.part FROM (%[1]s) AS o WHERE o.part <> o.whole
    UNION
    SELECT d.objid FROM pg_class AS c JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'i'
      JOIN pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
    WHERE c.relnamespace = %[3]s::regnamespace AND c.relname = %[4]s
  LOOP
    EXECUTE format('REVOKE ALL ON TABLE %%s FROM %[2]s CASCADE', relation);
  END LOOP;
  FOR relation IN
    SELECT c.oid FROM pg_class AS c WHERE c.relnamespace = %[3]s::regnamespace AND c.relname = %[4]s
  LOOP
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON TABLE %%s FROM %[2]s CASCADE', relation);
  END LOOP;
END $$;

-- What the migrator makes later begins with no rights for them either.
ALTER DEFAULT PRIVILEGES FOR ROLE %[5]s REVOKE ALL ON TABLES FROM %[2]s;
ALTER DEFAULT PRIVILEGES FOR ROLE %[5]s REVOKE ALL ON SEQUENCES FROM %[2]s;
ALTER DEFAULT PRIVILEGES FOR ROLE %[5]s IN SCHEMA %[6]s REVOKE ALL ON TABLES FROM %[2]s;
ALTER DEFAULT PRIVILEGES FOR ROLE %[5]s IN SCHEMA %[6]s REVOKE ALL ON SEQUENCES FROM %[2]s;
`, p.ours(), all, sqlname.Literal(n.Schema), sqlname.Literal(sqlname.Versions), n.Migrator, sqlname.Ident(n.Schema))
}

// ours is a query for all that is the machines': the relation itself, and what belongs to it.
func (p *plan) ours() string {
	return fmt.Sprintf(`
      WITH named AS (
        SELECT c.oid, c.relkind FROM pg_class AS c WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'p', 'S') AND c.relname IN (%s)
      )
      SELECT n.oid AS part, n.oid AS whole FROM named AS n
      UNION
      SELECT t.relid, n.oid FROM named AS n CROSS JOIN LATERAL pg_partition_tree(n.oid) AS t WHERE n.relkind = 'p'
      UNION
      SELECT d.objid, n.oid FROM named AS n JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = n.oid
      WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'i' AND EXISTS (SELECT FROM pg_class AS s WHERE s.oid = d.objid AND s.relkind = 'S')
    `, sqlname.Literal(p.names.Schema), literals(p.relationNames()))
}

// others is a condition on p, a function of the writer's: that it is none of now.
func (p *plan) others() string { return p.without(func(Statement) bool { return true }) }

// without is a condition on p, a function of the writer's: that it is none of now that
// which takes.
func (p *plan) without(which func(Statement) bool) string {
	var list []string
	for _, s := range p.functions {
		if which(s) {
			list = append(list, s.function())
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " AND p.proname NOT IN (" + literals(list) + ")"
}

// before has the functions of programs of before do what they did, for those who
// could call them, with the settings of now. Which of them are corrections their names
// say, and whom they were given to where a long name was cut.
func (p *plan) before() string {
	n := p.names
	var settings strings.Builder
	for _, one := range pins {
		if one.needed == nil {
			fmt.Fprintf(&settings, "    EXECUTE format('ALTER FUNCTION %%s SET %s', function);\n", strings.ReplaceAll(one.set, "'", "''"))
		}
	}
	return fmt.Sprintf(`
-- Functions of programs generated before.
DO $$
DECLARE
  function regprocedure;
BEGIN
  FOR function IN
    SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = %[1]s::regnamespace AND p.proowner = %[2]s::regrole%[3]s
  LOOP
%[4]s    EXECUTE format('REVOKE ALL ON FUNCTION %%s FROM PUBLIC, %[5]s CASCADE', function);
    IF (SELECT p.proname ~ '_correct_[0-9a-f]{%[6]d}$' OR EXISTS (SELECT FROM aclexplode(p.proacl) AS a WHERE a.grantee = %[7]s::regrole)
        FROM pg_proc AS p WHERE p.oid = function) THEN
      EXECUTE format('REVOKE ALL ON FUNCTION %%s FROM %[8]s CASCADE', function);
    END IF;
  END LOOP;
END $$;
`, sqlname.Literal(n.Schema), sqlname.Literal(n.Writer), p.others(), settings.String(), n.Reader, digits, sqlname.Literal(n.Support), n.App)
}
