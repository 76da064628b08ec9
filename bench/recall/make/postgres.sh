#!/bin/bash
# Makes the outputs that come from a real PostgreSQL 15 server.
# usage: postgres.sh shop|ledger OUTDIR     (as root; uses /srv/PROJECTdb, removed at the end)
#   shop:   log-postgres-shop, json-explain-shop, csv-psql-orders
#   ledger: log-postgres-ledger, tsv-psql-postings
set -u
project=$1 out=$2
bin=/usr/lib/postgresql/15/bin
base=/srv/${project}db
rm -rf "$base"; mkdir -p "$base/run"; chown -R postgres "$base"
as() { (cd "$base" && runuser -u postgres -- env TZ=UTC PATH="$bin:/usr/bin:/bin" "$@"); }
sql() { as psql -X -q -h "$base/run" -U "${PGU:-$project}" "$project" "$@"; }
ctl() { as pg_ctl -D "$base/data" -l "$base/server.log" -w "$@" >/dev/null 2>&1; }

as initdb -D "$base/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 >/dev/null
cat >> "$base/data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$base/run'
timezone = 'UTC'
log_timezone = 'UTC'
shared_buffers = 32MB
max_wal_size = 64MB
checkpoint_timeout = 30s
log_checkpoints = on
log_lock_waits = on
deadlock_timeout = 200ms
CONF

if [ "$project" = shop ]; then
cat >> "$base/data/postgresql.conf" <<CONF
max_connections = 16
superuser_reserved_connections = 3
log_line_prefix = '%m [%p] %q%u@%d '
log_connections = on
log_disconnections = on
log_min_duration_statement = 60ms
work_mem = 256kB
CONF
ctl start
as psql -X -q -h "$base/run" -U postgres postgres -c "create role shop login" -c "create role report login" -c "create database shop owner shop"
sql <<'SQL'
create table customers (id int primary key, name text not null, country char(2), email text unique, vip boolean default false);
insert into customers select i, 'customer ' || i, (array['DE','FR','PL','SE','US'])[1 + i % 5], 'c' || i || '@example.org', i % 97 = 0 from generate_series(1, 3000) i;
create table products (id int primary key, sku text unique, title text, price numeric(10,2) check (price >= 0), stock int);
insert into products select i, 'SKU-' || lpad(i::text, 5, '0'), (array['Lamp','Chair','Desk','Shelf','Rug'])[1 + i % 5] || ' no. ' || i, 5 + (i * 37 % 400), i * 7 % 90 from generate_series(1, 800) i;
create table orders (id int, customer_id int references customers, placed date not null, status text, total numeric(10,2), note text, primary key (id, placed)) partition by range (placed);
do $$ begin for m in 0..23 loop
  execute format('create table orders_%s partition of orders for values from (%L) to (%L)', to_char(date '2024-01-01' + make_interval(months => m), 'YYYY_MM'), date '2024-01-01' + make_interval(months => m), date '2024-01-01' + make_interval(months => m + 1));
end loop; end $$;
insert into orders select i, 1 + i * 7919 % 3000, date '2024-01-01' + (i * 31 % 731), (array['paid','paid','paid','shipped','shipped','returned','open'])[1 + i % 7],
  case when i % 311 = 0 then null else 10 + (i * 53 % 49000) / 100.0 end,
  case when i % 67 = 0 then E'Leave at the door.\nCall before delivery' when i % 41 = 0 then 'gift, "no invoice"' end from generate_series(1, 60000) i;
update orders set total = -420.00 where id = 7141;
update orders set total = 98765.43 where id = 14451;
create table items (order_id int, product_id int, quantity int, price numeric(10,2));
insert into items select 1 + i * 13 % 60000, 1 + i * 17 % 800, 1 + i % 4, 5 + i * 29 % 300 from generate_series(1, 120000) i;
create index on items (product_id);
analyze customers, products, orders, items;
SQL
# The plan of a monthly report: two years of partitions, joined with their items.
sql -At > "$out/json-explain-shop" 2>&1 <<'SQL'
set max_parallel_workers_per_gather = 0;
set enable_partitionwise_aggregate = on;
set jit = off;
explain (analyze, buffers, verbose, settings, format json)
select c.country, date_trunc('month', o.placed) as month, p.title, sum(i.quantity * i.price) as revenue, count(distinct o.id) as orders
from orders o join customers c on c.id = o.customer_id join items i on i.order_id = o.id join products p on p.id = i.product_id
where o.status in ('paid', 'shipped') and o.total > (select avg(total) from orders where status = 'returned')
  and not exists (select 1 from orders r where r.customer_id = o.customer_id and r.status = 'returned' and r.placed > o.placed)
group by 1, 2, 3 having sum(i.quantity * i.price) > 500 order by revenue desc limit 50;
SQL
sql -c "\\copy (select id, customer_id, placed, status, total, note from orders where placed >= '2025-09-01' and id % 5 = 1 order by placed, id) to stdout with (format csv, header)" > "$out/csv-psql-orders" 2>&1

load() { # the traffic of the web shop: short sessions, mostly fine
  local from=$1 to=$2
  for ((i = from; i < to; i++)); do
    {
      echo "select title, price from products where id = $((1 + i % 800));"
      echo "insert into items values ($((1 + i * 7 % 60000)), $((1 + i % 800)), 1, 9.99);"
      ((i % 9 == 0)) && echo "update products set stock = stock - 1 where id = $((1 + i * 3 % 800));"
      ((i % 37 == 5)) && echo "insert into customers values ($((5000 + i)), 'customer', 'DE', 'c$((1 + i % 3000))@example.org');"
      ((i % 83 == 7)) && echo "insert into orders values ($((90000 + i)), 999999, '2025-03-01', 'open', 10, null);"
      ((i == 131)) && echo "update products set price = price - 500 where id = 12;"
      ((i == 322)) && echo "insert into orders values (99001, 5, '2026-01-02', 'open', 12, null);"
      ((i % 190 == 61)) && echo "select shipping_zone from customers where id = $i;"
      ((i % 71 == 11)) && echo "select c.country, count(*), sum(o.total) from orders o join customers c on c.id = o.customer_id join items i on i.order_id = o.id group by 1 order by 3;"
      ((i == 260)) && echo "set statement_timeout = '150ms'; select pg_sleep(2);"
      :
    } | sql >/dev/null 2>&1
  done
}
(load 0 180) & (load 180 360) & wait
# Two sessions lock the same rows in another order.
(printf "begin; update products set stock = 1 where id = 10; select pg_sleep(0.5); update products set stock = 1 where id = 20; commit;\n" | sql >/dev/null 2>&1) &
(sleep 0.1; printf "begin; update products set stock = 2 where id = 20; select pg_sleep(0.5); update products set stock = 2 where id = 10; commit;\n" | sql >/dev/null 2>&1) &
wait
# A report tool opens more connections than there are.
for n in $(seq 1 18); do (echo "select pg_sleep(1.5);" | PGU=report sql >/dev/null 2>&1) & done; wait
echo "select pg_sleep(20)" | PGU=report sql >/dev/null 2>&1 &
sleep 0.3; ctl restart -m fast; wait
(load 400 560) & (load 560 700) & wait
ctl stop -m fast
cp "$base/server.log" "$out/log-postgres-shop"
else
cat >> "$base/data/postgresql.conf" <<CONF
max_connections = 30
log_line_prefix = '%t %c %a %u %l: '
log_statement = 'mod'
log_min_duration_statement = 250ms
log_autovacuum_min_duration = 0
autovacuum_naptime = 10s
statement_timeout = 4s
CONF
ctl start
as psql -X -q -h "$base/run" -U postgres postgres -c "create role ledger login" -c "create database ledger owner ledger"
sql <<'SQL'
create table accounts (code text primary key, title text, currency char(3), closed boolean default false);
insert into accounts select (1000 + i * 10)::text, (array['Cash','Receivables','Payables','Revenue','Payroll','Tax'])[1 + i % 6] || ' ' || i, (array['EUR','EUR','EUR','USD','CHF'])[1 + i % 5], i = 77 from generate_series(0, 199) i;
create table postings (id bigserial primary key, account text references accounts, booked timestamptz default now(), amount numeric(14,2) not null, memo text, batch int, constraint amount_not_zero check (amount <> 0));
insert into postings (account, booked, amount, memo, batch) select (1000 + (i * 7 % 200) * 10)::text, timestamptz '2026-01-01 00:00Z' + i * interval '37 minutes', case when i = 4040 then 9999999.99 when i % 2 = 0 then (i * 17 % 9000) / 10.0 + 1 else -(i * 17 % 9000) / 10.0 - 1 end, case when i % 13 = 0 then null when i % 501 = 0 then E'corrected\tby hand' else 'invoice ' || 20000 + i end, i / 250 from generate_series(1, 9000) i;
analyze accounts, postings;
SQL
sql -A -F $'\t' -P null=NULL -c "select id, account, booked, amount, memo, batch from postings order by id" > "$out/tsv-psql-postings" 2>&1
cat > "$base/post.sql" <<'SQL'
\set a random(0, 199)
\set b random(0, 205)
\set n random(-900, 900)
begin;
insert into postings (account, amount, memo, batch) values ((1000 + :a * 10)::text, :n, 'transfer', 40);
insert into postings (account, amount, memo, batch) values ((1000 + :b * 10)::text, -(:n), 'transfer', 40);
update accounts set title = title where code = (1000 + :a * 10)::text;
commit;
SQL
bench() { # a failed transaction ends a pgbench client, so each of many short runs has few
  for s in $(seq "$1" "$2"); do PGAPPNAME=importer as pgbench -n -h "$base/run" -U ledger -f post.sql -c 2 -t 14 --random-seed="$s" ledger >/dev/null 2>&1; done
}
bench 1 40
echo "begin; lock table postings; select pg_sleep(1.2); commit;" | PGAPPNAME=closing sql >/dev/null 2>&1 & sleep 0.1
bench 41 60; wait
echo "select a.account, sum(b.amount) from postings a, postings b where a.amount < b.amount group by 1" | PGAPPNAME=balance sql >/dev/null 2>&1
echo "drop table accounts;" | PGAPPNAME=migrate sql >/dev/null 2>&1
echo "alter table postings add column tax_code text not null;" | PGAPPNAME=migrate sql >/dev/null 2>&1
echo "create index postings_batch on postings (batch);" | PGAPPNAME=migrate sql >/dev/null 2>&1
ctl stop -m immediate      # as after a power loss: the next start recovers
ctl start
bench 61 100
ctl stop -m fast
cp "$base/server.log" "$out/log-postgres-ledger"
fi
rm -rf "$base"
