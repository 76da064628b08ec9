// Looks at every page of `weir ui` with a browser: screenshots, axe-core, requests to elsewhere, pages that are too wide.
//
//   PAGES_MODULES=FOLDER PAGES_BROWSER=PROGRAM node tools/pages/look.mjs LINK OUTPUT
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";

const [link, output] = process.argv.slice(2);
const require = createRequire(join(process.env.PAGES_MODULES, "index.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const LOOKS = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { name: "phone", colorScheme: "light", viewport: { width: 360, height: 740 } },
];
const GRAVE = ["serious", "critical"];
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
// How often a page that is being made is looked at again.
const MAX_TRIES = 60;

let isGrave = false;
function find(text, grave) {
  isGrave ||= grave;
  console.log(`${grave ? "FOUND" : "note "} ${text}`);
}

// Opens a page, and opens it again as long as it says that it is being made.
async function open(page, address) {
  for (let at = 0; at < MAX_TRIES; at += 1) {
    const response = await page.goto(address, { waitUntil: "load" });
    const title = await page.title();
    if (!/being (made|read)/.test(title)) return response;
    await page.waitForTimeout(1000);
  }
  throw new Error(`${address} is still being made`);
}

async function firstLink(page, address, selector) {
  await open(page, address);
  const links = await page.locator(selector).all();
  return links.length === 0 ? null : links[0].getAttribute("href");
}

// Returns every page by its name, as paths.
async function everyPage(page, origin, project) {
  const at = (path) => `${project}${path}`;
  const pages = {
    today: at("") || "/",
    "today-30": at("?days=30"),
    all: "/",
    sessions: at("/sessions"),
    search: at("/search?q=uploads+at+once"),
    "search-empty": at("/search"),
    notes: at("/notes"),
    "notes-all": at("/notes?show=all"),
    window: at("/window"),
    pauses: at("/pauses"),
    prefix: at("/prefix"),
    projects: at("/projects"),
    health: at("/health"),
    settings: at("/settings"),
    missing: at("/entries/0000000000"),
  };
  const session = await firstLink(page, origin + at("/sessions"), "main a[href*='/sessions/']");
  if (session) pages.session = session;
  const entry = await firstLink(page, origin + at("?days=30"), "main a[href*='/entries/']");
  if (entry) pages.entry = entry;
  return pages;
}

async function look(context, origin, name, path, mode) {
  const page = await context.newPage();
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) find(`${name} asks for ${request.url()}`, true);
  });
  page.on("console", (message) => {
    const isExpected = name === "missing" && message.text().includes("404");
    if (message.type() === "error" && !isExpected) find(`${name} (${mode}) says: ${message.text()}`, true);
  });
  const begun = performance.now();
  await open(page, origin + path);
  const timing = await page.evaluate(() => {
    const [entry] = performance.getEntriesByType("navigation");
    return { first: entry.responseStart - entry.requestStart, bytes: entry.decodedBodySize };
  });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) find(`${name} (${mode}) is ${wide} pixels wider than its window`, true);
  await page.screenshot({ path: join(output, `${name}-${mode}.png`), fullPage: true });
  await page.evaluate(axe);
  const { violations } = await page.evaluate((tags) => globalThis.axe.run(document, { runOnly: tags }), RULES);
  for (const violation of violations) {
    const where = violation.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ");
    find(`${name} (${mode}) ${violation.impact}: ${violation.id}, ${violation.help}: ${where}`, GRAVE.includes(violation.impact));
  }
  const took = `first byte ${timing.first.toFixed(0)} ms, ${timing.bytes} bytes, ${(performance.now() - begun).toFixed(0)} ms in all`;
  console.log(`      ${name} (${mode}): ${took}`);
  await page.close();
}

const origin = new URL(link).origin;
const isRoot = process.getuid?.() === 0;
const browser = await chromium.launch({ executablePath: process.env.PAGES_BROWSER, args: isRoot ? ["--no-sandbox"] : [] });
try {
  const first = await browser.newContext(LOOKS[0]);
  const page = await first.newPage();
  // The link works once. The page that it opens goes on by itself.
  await page.goto(link, { waitUntil: "load" });
  await page.waitForURL((url) => !url.pathname.startsWith("/open/"));
  const path = new URL(page.url()).pathname;
  const project = path.startsWith("/in/") ? path.split("/").slice(0, 3).join("/") : "";
  const storageState = await first.storageState();
  const pages = await everyPage(page, origin, project);
  await first.close();
  for (const { name: mode, ...options } of LOOKS) {
    const context = await browser.newContext({ ...options, storageState });
    for (const [name, path] of Object.entries(pages)) await look(context, origin, name, path, mode);
    await context.close();
  }
} finally {
  await browser.close();
}
if (isGrave) {
  console.log("something is wrong with the pages: see FOUND above");
  process.exitCode = 1;
}
