-- +goose Up
-- What the database is for: it takes no command of another environment. It is
-- '' until a program has opened it.
CREATE TABLE deployment (
    id          bigint NOT NULL,
    environment text    NOT NULL,
    CONSTRAINT deployment_id_key PRIMARY KEY (id)
);
INSERT INTO deployment (id, environment) VALUES (1, '');

-- The keys that data is sealed with: something that each has sealed, by which a
-- wrong one of the same name is recognized, and whether it has been the first.
CREATE TABLE encryption_keys (
    name         text    NOT NULL,
    sealed_check text    NOT NULL,
    was_first    boolean NOT NULL,
    CONSTRAINT encryption_keys_name_key PRIMARY KEY (name)
);

-- +goose Down
DROP TABLE encryption_keys;
DROP TABLE deployment;
