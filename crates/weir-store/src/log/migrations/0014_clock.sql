-- The last time at which the clock was believed, and a later one that another day has to confirm; 0 if there was none.
ALTER TABLE totals ADD COLUMN clock_believed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN clock_doubted INTEGER NOT NULL DEFAULT 0;
