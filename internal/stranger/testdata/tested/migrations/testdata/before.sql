CREATE TABLE settlements (merchant text, day date, test boolean, state smallint NOT NULL, total_cents bigint NOT NULL, PRIMARY KEY (merchant, day, test));
