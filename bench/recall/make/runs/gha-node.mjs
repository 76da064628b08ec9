// gha-node.mjs DIR: writes a Node project and a script that prints what a hosted runner would, with real commands.
import fs from 'node:fs';
const dir = process.argv[2];
const put = (path, text) => { fs.mkdirSync(`${dir}/${path}`.replace(/\/[^/]*$/, ''), { recursive: true }); fs.writeFileSync(`${dir}/${path}`, text); };
put('package.json', JSON.stringify({ name: 'seatmap', version: '3.2.1', type: 'module', scripts: { test: 'node --test --test-reporter=spec test/', lint: 'node lint.mjs', build: 'node build.mjs' } }, null, 1));
const parts = ['row', 'seat', 'price', 'hold', 'venue', 'ticket'];
parts.forEach((part, n) => {
  put(`src/${part}.js`, `export function ${part}Count(list) {\n  return list.reduce((sum, one) => sum + one, 0)${n === 2 ? ' * 1.1' : ''};\n}\nexport async function ${part}Load(source) {\n  const found = await source.read('${part}');\n  ${n === 3 ? 'return found.held.at(0).by;' : 'return found;'}\n}\n`);
  const cases = Array.from({ length: 14 }, (_, k) => `  it('adds ${k} of them', () => assert.equal(${part}Count(Array(${k}).fill(${n + 1})), ${k * (n + 1)}));`).join('\n');
  put(`test/${part}.test.js`, `import { describe, it } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { ${part}Count, ${part}Load } from '../src/${part}.js';\n\ndescribe('${part}', () => {\n${cases}\n  it('loads from a source', async () => {\n    assert.deepEqual(await ${part}Load({ read: async () => ({ id: ${n} }) }), { id: ${n === 5 ? 6 : n} });\n  });\n  it.skip('loads from the box office', () => {});\n  it.todo('sorts by price');\n${n === 4 ? "  it('waits for the gate', { timeout: 120 }, () => new Promise((done) => setTimeout(done, 900)));\n" : ''}});\n`);
});
put('lint.mjs', `import fs from 'node:fs';
let warnings = 0;
for (const file of fs.readdirSync('src').concat(fs.readdirSync('test'))) {
  const path = (fs.existsSync('src/' + file) ? 'src/' : 'test/') + file;
  fs.readFileSync(path, 'utf8').split('\\n').forEach((text, at) => {
    if (text.length > 80) { console.log('##[warning]' + path + ':' + (at + 1) + ': line has ' + text.length + ' characters'); warnings++; }
  });
}
console.log('checked 12 files, ' + warnings + ' warnings');
`);
put('build.mjs', `import fs from 'node:fs';
let total = 0;
for (const file of fs.readdirSync('src')) { const size = fs.statSync('src/' + file).size; total += size; console.log('  dist/' + file + '  ' + size + ' B'); }
console.log('bundled ' + total + ' bytes');
if (total > 1000) console.error('##[error]bundle is ' + total + ' bytes, the limit is 1000');
process.exit(total > 1000 ? 3 : 0);
`);
put('run.sh', `group() { echo "##[group]$1"; shift; "$@" 2>&1; rc=$?; echo "##[endgroup]"; if [ $rc != 0 ]; then echo "##[error]Process completed with exit code $rc."; worst=$rc; fi; }
worst=0
echo "Current runner version: '2.319.1'"
group "Run node --version" node --version
group "Run npm ls" npm ls
group "Run npm run lint" npm run lint
group "Run npm test" npm test
group "Run npm run build" npm run build
echo "Post job cleanup."
exit $worst
`);
