-- `output` has the tokens of the outputs in full. Of earlier outputs, only what the client would have shown is known.
-- `what` has one more value: ran (one of our own tools ran a program, and its output was held back).
ALTER TABLE meter ADD COLUMN output INTEGER NOT NULL DEFAULT 0;
UPDATE meter SET output = given;
