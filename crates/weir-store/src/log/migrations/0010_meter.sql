-- What Weir did to conversations, by day, session and tool. `what`: held (an output was replaced), told (something was said
-- without being asked), answered (one of our own tools was called). `given` has the tokens that the model would have got
-- without Weir, `shown` those that it got.
CREATE TABLE meter (
    day INTEGER NOT NULL,
    client TEXT NOT NULL,
    session TEXT NOT NULL,
    tool TEXT NOT NULL,
    what TEXT NOT NULL,
    times INTEGER NOT NULL,
    given INTEGER NOT NULL,
    shown INTEGER NOT NULL,
    PRIMARY KEY (day, client, session, tool, what)
) STRICT, WITHOUT ROWID;
