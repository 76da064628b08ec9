-- The tables of the shop. Money is kept in cents.

CREATE SCHEMA IF NOT EXISTS shop;
CREATE EXTENSION IF NOT EXISTS "uuid-ossp";

CREATE TYPE order_state AS ENUM ('open', 'paid', 'sent');

-- Who buys.
CREATE TABLE IF NOT EXISTS shop.customers (
    id BIGSERIAL PRIMARY KEY,
    email VARCHAR(255) NOT NULL UNIQUE,
    -- when they came
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now(),
    CONSTRAINT email_has_at CHECK (email LIKE '%@%')
);

/* What they buy. */
CREATE TABLE orders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    customer_id BIGINT NOT NULL REFERENCES shop.customers (id) ON DELETE CASCADE,
    state order_state NOT NULL DEFAULT 'open',
    total DECIMAL(10, 2),
    FOREIGN KEY (customer_id) REFERENCES shop.customers (id)
);

CREATE UNIQUE INDEX orders_by_customer ON orders (customer_id, state);

-- Orders that are not paid.
CREATE OR REPLACE VIEW open_orders AS
SELECT o.id, c.email
FROM orders o
JOIN shop.customers c ON c.id = o.customer_id
WHERE o.state = 'open';

CREATE MATERIALIZED VIEW totals AS
SELECT customer_id, sum(total) AS total FROM orders GROUP BY customer_id;

CREATE SEQUENCE invoice_numbers START 1000;

-- Adds up an order.
CREATE OR REPLACE FUNCTION order_total(which BIGINT, with_tax BOOLEAN DEFAULT true)
RETURNS NUMERIC AS $$
BEGIN
    RETURN (SELECT sum(price) FROM lines WHERE order_id = which);
END;
$$ LANGUAGE plpgsql;

CREATE TRIGGER orders_changed
AFTER INSERT OR UPDATE ON orders
FOR EACH ROW EXECUTE FUNCTION note_change();

ALTER TABLE orders ADD COLUMN note TEXT;

CREATE ROLE reader;

INSERT INTO orders (customer_id, state) VALUES (1, 'open'), (2, 'paid');

SELECT * FROM orders;
