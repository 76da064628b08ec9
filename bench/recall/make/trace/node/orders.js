// Order service: handles generated events; errors carry causes. Ends by an unhandled rejection.
'use strict';
Error.stackTraceLimit = 25;
let seed = 17;
const rnd = (n) => { seed = (seed * 1103515245 + 12345) & 0x7fffffff; return seed % n; };
let clock = Date.UTC(2025, 2, 3, 5, 0, 0);
const stamp = () => { clock += 200 + rnd(1800); return new Date(clock).toISOString(); };
const log = (level, msg, extra = {}) => console.log(`${stamp()} ${level} ${msg}`, Object.keys(extra).length ? JSON.stringify(extra) : '');
class StockError extends Error { constructor(sku, cause) { super(`no stock for ${sku}`, { cause }); this.name = 'StockError'; this.sku = sku; } }
class PaymentError extends Error { constructor(msg, cause) { super(msg, { cause }); this.name = 'PaymentError'; this.code = 'E_PAYMENT'; } }

const reserve = async (order) => {
  if (order.n % 37 === 36) throw new StockError(order.sku, new RangeError('warehouse 3 reported -1 items'));
  return order;
};
const charge = async (order) => {
  await null;
  if (order.n % 53 === 52) throw new PaymentError(`card declined for order ${order.id}`, new Error('gateway answered 402'));
  return { ...order, charged: order.items.reduce((s, i) => s + i.price * i.qty, 0) };
};
const label = (order) => order.address.country.code.toUpperCase();
const nest = (depth, fn) => (depth === 0 ? fn() : nest(depth - 1, fn));
async function handle(order) {
  const reserved = await reserve(order);
  const paid = await charge(reserved);
  const country = nest(6, () => label(paid));
  log('info', `order ${order.id} shipped`, { sku: order.sku, total: paid.charged, country });
}
function makeOrder(n) {
  const order = { n, id: 7000 + n, sku: `SKU-${100 + rnd(40)}`, items: [{ price: 5 + rnd(90), qty: 1 + rnd(4) }], address: { country: { code: ['de', 'fr', 'se'][rnd(3)] } } };
  if (n % 71 === 70) delete order.address.country;
  if (n === 411) order.items = null;
  return order;
}
const stats = {};
async function main() {
  for (let n = 0; n < 5000; n++) {
    const order = makeOrder(n);
    try { await handle(order); } catch (err) {
      stats[err.name] = (stats[err.name] || 0) + 1;
      log('error', `order ${order.id} failed`);
      console.error(err);
    }
  }
  try {
    await Promise.any([1, 2, 3].map(async (n) => { throw new Error(`replica ${n} refused the snapshot`); }));
  } catch (err) { log('error', 'snapshot failed'); console.error(err); }
  process.emitWarning('listener count is 12, limit is 10', 'MaxListenersExceededWarning');
  log('info', 'run finished', stats);
  setTimeout(() => { Promise.reject(new PaymentError('settlement file was not written', Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', errno: -28 }))); }, 5);
}
main();
