-- The identity of a project's repository: its root commit and its remote. Empty as long as it is not known.
ALTER TABLE projects ADD COLUMN identity TEXT NOT NULL DEFAULT '';
