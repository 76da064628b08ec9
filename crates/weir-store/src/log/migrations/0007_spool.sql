-- Records of the spool that were taken in and whose files may still be there: taken in once, whatever ends the process.
CREATE TABLE spooled (
    name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
