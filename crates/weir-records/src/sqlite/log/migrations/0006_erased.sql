-- What tells an erased record from another one with the same id: 32 bits of the hash of its JSON, too few to confirm a
-- guess of what it said. Null for a record that is not erased, and for one that was erased before this migration.
ALTER TABLE records ADD COLUMN imprint INTEGER;
