// An API gateway in the style of a Node service: coloured levels off, one line a request, real error stacks.
let seed = 73;
const rnd = () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648);
const pick = (a) => a[Math.floor(rnd() * a.length)];
let now = Date.UTC(2026, 9, 12, 4, 30);
const log = (level, text) => console.log(`[${new Date(now).toISOString()}] ${level.padEnd(5)} gateway/${pid} ${text}`);
let pid = 4102;

class UpstreamError extends Error {
  constructor(service, code) { super(`${service} answered ${code}`); this.name = 'UpstreamError'; this.code = 'E_UPSTREAM'; }
}
function parseToken(t) { return JSON.parse(t); }
function route(n) {
  if (n % 173 === 90) throw new UpstreamError('inventory', 503);
  if (n === 640) parseToken('{"sub": "user-88", ');
}
log('info', 'listening on 0.0.0.0:3000, 5 routes');
for (let n = 0; n < 1150; n++) {
  now += Math.floor(rnd() * 2400);
  const path = pick(['/v1/items', '/v1/items/search', '/v1/basket', '/v1/me', '/healthz']);
  let ms = 3 + Math.floor(rnd() * 90);
  if (n === 702) ms = 12044;
  if (n % 311 === 200) ms = 2100 + n;
  try {
    route(n);
    log(ms > 1000 ? 'warn' : 'info', `${pick(['GET', 'GET', 'GET', 'POST'])} ${path} 200 ${ms}ms${ms > 1000 ? ' (slow)' : ''}`);
  } catch (e) {
    log('error', `GET ${e.name === 'SyntaxError' ? '/v1/me 401' : '/v1/items 503'} ${ms}ms\n${e.stack.split('\n').slice(0, 4).join('\n')}`);
  }
  if (n === 511) log('warn', 'MaxListenersExceededWarning: Possible EventEmitter memory leak detected. 11 error listeners added to [Socket]');
  if (n === 830) {
    log('error', 'uncaughtException: ECONNRESET while reading from redis at 10.8.0.4:6379, exiting with code 7');
    now += 6100; pid = 4377;
    log('info', 'listening on 0.0.0.0:3000, 5 routes');
  }
  if (n % 250 === 249) log('info', `rate limiter: ${n % 7} clients blocked, ${pick([120, 140])} buckets`);
}
