-- +goose Up
-- Bytes are in a bucket: object is their name there, '' for a row of before. Such
-- rows have their bytes in content until these are moved; then it is empty.
ALTER TABLE blob ADD COLUMN object TEXT NOT NULL DEFAULT '';
ALTER TABLE blob ADD COLUMN used_us BIGINT NOT NULL DEFAULT 0; -- when they were last asked for
ALTER TABLE blob ADD COLUMN stored_us BIGINT; -- since when they are whole in the bucket; NULL: perhaps not
CREATE INDEX blob_stored ON blob (stored_us) WHERE stored_us IS NOT NULL;

-- Names of objects that the record has forgotten, and whose bytes are to be deleted.
CREATE TABLE blob_garbage (
    object   TEXT PRIMARY KEY,
    since_us BIGINT NOT NULL
);

-- How many bytes an artifact could have when the observation was taken in, so that
-- the ledger can be replayed; 0: any number.
ALTER TABLE event ADD COLUMN artifact_limit BIGINT NOT NULL DEFAULT 0;

-- What one of the processes that share the database does from time to time.
CREATE TABLE duty (
    name   TEXT PRIMARY KEY,
    due_us BIGINT NOT NULL
);

-- +goose Down
DROP TABLE duty;
ALTER TABLE event DROP COLUMN artifact_limit;
DROP TABLE blob_garbage;
DROP INDEX blob_stored;
ALTER TABLE blob DROP COLUMN stored_us;
ALTER TABLE blob DROP COLUMN used_us;
ALTER TABLE blob DROP COLUMN object;
