// Page renderer: renders a tree of components; broken templates give deep stacks. Run with --stack-trace-limit=120.
'use strict';
const assert = require('assert');
const vm = require('vm');
const { EventEmitter } = require('events');
const bus = new EventEmitter();
const pages = Array.from({ length: 260 }, (_, n) => ({ path: `/help/${['billing', 'setup', 'export', 'roles'][n % 4]}/page-${n}`, depth: 4 + (n * 7) % 60, broken: n % 19 === 18 ? 'vars' : n % 43 === 42 ? 'syntax' : n === 200 ? 'loop' : n === 133 ? 'snapshot' : null }));
const started = {};
function renderNode(page, level) {
  if (level === page.depth) return renderLeaf(page);
  return `<div>${renderNode(page, level + 1)}</div>`;
}
function renderLeaf(page) {
  switch (page.broken) {
    case 'vars': return page.model.title.trim();
    case 'syntax': return vm.runInThisContext('`<h1>${page.title</h1>`', { filename: `templates${page.path}.tpl` });
    case 'loop': return renderInclude(page);
    case 'snapshot': assert.deepStrictEqual({ title: 'Roles', links: 4, lang: 'en' }, { title: 'Roles', links: 5, lang: 'en' }); return '';
    default: return '<p></p>';
  }
}
function renderInclude(page) { return renderInclude(page) + '.'; }
let ok = 0, bad = 0;
bus.on('page', (page) => {
  try {
    const html = renderNode(page, 0);
    ok += 1;
    console.log(`rendered ${page.path} depth=${page.depth} bytes=${html.length}`);
  } catch (err) {
    bad += 1;
    console.log(`FAILED ${page.path}`);
    console.log(err.stack || String(err));
  }
});
pages.forEach((page) => bus.emit('page', page));
new Buffer(4);
console.log(`rendered ${ok} pages, ${bad} failed`);
bus.emit('error', Object.assign(new Error(`site not published: ${bad} pages failed`), { failed: bad }));
