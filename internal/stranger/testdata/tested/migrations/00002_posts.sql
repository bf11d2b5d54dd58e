-- +goose Up
CREATE TABLE authors (id bigint PRIMARY KEY);
CREATE TYPE post_state AS ENUM ('DRAFT', 'OUT');
CREATE TABLE posts (
  id uuid PRIMARY KEY,
  state post_state DEFAULT 'DRAFT',
  title text UNIQUE,
  author bigint NOT NULL REFERENCES authors,
  slug text NOT NULL,
  letters integer GENERATED ALWAYS AS (length(title)) STORED,
  touched integer NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX posts_slug ON posts (slug);
-- +goose StatementBegin
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.touched := NEW.touched + 1; RETURN NEW; END $$;
-- +goose StatementEnd
CREATE TRIGGER touch BEFORE UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION touch();
-- +goose Down
DROP TABLE posts;
DROP FUNCTION touch;
DROP TYPE post_state;
DROP TABLE authors;
