-- Past sessions are taken in from transcripts long after they happened, so that the order of ids is no longer the order of
-- time. What happened is read in the order of time.
DROP INDEX events_session;
CREATE INDEX events_session ON events (session_id, at) WHERE session_id IS NOT NULL;
CREATE INDEX events_at ON events (at);
DROP INDEX sessions_client;
CREATE INDEX sessions_client ON sessions (client, started_at);

-- Every index is a page in every append, and something to read whenever a hook opens the store. What happened in a work is
-- looked for in the order of time, too.
DROP INDEX events_work;

-- How far the transcript of a conversation was taken in: how many steps, and the message of the last. A session has one
-- conversation of its own and one with each subagent. Stays when the session is gone, so that nothing comes back that
-- was forgotten.
CREATE TABLE imports (
    client TEXT NOT NULL,
    key TEXT NOT NULL,
    subagent TEXT NOT NULL,
    steps INTEGER NOT NULL,
    message TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (client, key, subagent)
) STRICT, WITHOUT ROWID;
