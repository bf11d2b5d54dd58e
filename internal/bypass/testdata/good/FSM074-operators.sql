SELECT a @> b, c <@d, @e, @abs(f), doc @@query, j @? '$.x' FROM t;
