-- The requests that users may repeat, by their keys, for a day. `name` is the hash of the user and of their name for the
-- request, `content` 32 bits of the hash of that name and of what the request said. `host` and `number` are the id of
-- the record that was appended for it. `at` is milliseconds since 1970.
CREATE TABLE weir.requests (
    tenant_id bigint NOT NULL,
    name bytea NOT NULL,
    content bigint NOT NULL,
    host uuid NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (tenant_id, name)
);
CREATE INDEX requests_at ON weir.requests (tenant_id, at);
ALTER TABLE weir.requests ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON weir.requests USING (tenant_id = (SELECT current_setting('weir.tenant')::bigint));
