// Prints the accessibility snapshot of a page: `aria` as Playwright's ariaSnapshot with references, `axtree` as a tree of
// the CDP's full accessibility tree. usage: node web.mjs aria|axtree URL      (needs playwright-core and chromium)
import { chromium } from 'playwright-core';
import { mkdtempSync, rmSync } from 'node:fs';
const [mode, url] = process.argv.slice(2);
const dir = mkdtempSync('/tmp/web-');
const context = await chromium.launchPersistentContext(dir, { executablePath: '/usr/bin/chromium', headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
const page = await context.newPage();
await page.goto(url);
if (mode === 'aria') {
  const snapshot = page._snapshotForAI ? await page._snapshotForAI() : await page.locator('body').ariaSnapshot({ mode: 'ai' });
  console.log(`- Page URL: ${page.url()}\n- Page Title: ${await page.title()}\n- Page Snapshot:\n\`\`\`yaml\n${typeof snapshot === 'string' ? snapshot : snapshot.full}\n\`\`\``);
} else {
  const cdp = await context.newCDPSession(page);
  const { nodes } = await cdp.send('Accessibility.getFullAXTree');
  const byId = new Map(nodes.map((n) => [n.nodeId, n]));
  const show = (n, depth) => {
    if (!n.ignored && n.role.value !== 'InlineTextBox') {
      const props = (n.properties ?? []).filter((x) => ['disabled', 'checked', 'url', 'level', 'focusable', 'required', 'hasPopup'].includes(x.name)).map((x) => `${x.name}=${x.value.value}`);
      console.log(`${'  '.repeat(depth)}${n.role.value} "${n.name?.value ?? ''}"${n.value ? ` value="${n.value.value}"` : ''} [uid=${n.backendDOMNodeId}]${props.length ? ' ' + props.join(' ') : ''}`);
      depth += 1;
    }
    for (const c of n.childIds ?? []) if (byId.has(c)) show(byId.get(c), depth);
  };
  show(nodes[0], 0);
}
await context.close();
rmSync(dir, { recursive: true, force: true });
