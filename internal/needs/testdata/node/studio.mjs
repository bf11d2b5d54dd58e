// studio.mjs KIND URL FOLDER uses the pages of a studio at an address as a person
// does, and ends with the number of things that were wrong. What is checked is in
// studio-KIND.mjs, whose default function gets the tools below; FOLDER has the
// definitions, for checks that edit them.
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [kind, base, folder, ...rest] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
let wrong = 0;

const check = (ok, what, ...more) => { if (!ok) { wrong++; console.log("WRONG:", what, ...more); } };
const equal = (have, want, what) => check(JSON.stringify(have) === JSON.stringify(want), what, "have", JSON.stringify(have), "want", JSON.stringify(want));

// desktop and phone are what the pages are looked at with.
const desktop = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const dark = { colorScheme: "dark" };
const chinese = { locale: "zh-CN" };

// open gives a page on which every error, message and request to elsewhere is noted.
async function open(path, options = {}) {
  const context = await browser.newContext({ locale: "en-US", ...desktop, acceptDownloads: true, ...options });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  // A browser complains of a page that there is not, which is what is asked for there.
  const missing = (m) => m.text().includes("404") && m.location().url.split("?")[0].endsWith("/nothing");
  page.on("console", (m) => check(missing(m), path + ": console", m.type(), m.text()));
  page.on("pageerror", (e) => check(false, path + ": error", e.message));
  page.on("request", (r) => check(r.url().startsWith(base + "/") || r.url().startsWith("data:"), path + ": request", r.url()));
  await hindered(page);
  await page.goto(base + path);
  return page;
}

// hindered gives a page the little that SLOW asks for, "KILOBYTES/FACTOR": a network of so
// many kilobytes a second, and a processor that many times slower. A check that reads a page
// before it is there passes on a quick machine, and is found so.
async function hindered(page) {
  if (!process.env.SLOW) { return; }
  const [kilobytes, factor] = process.env.SLOW.split("/").map(Number);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.emulateNetworkConditions", { offline: false, latency: 50, downloadThroughput: kilobytes * 1024, uploadThroughput: -1 });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: factor || 1 });
}

// leads does what leads to another page, and returns when all of that page is there: a click
// returns when its first bytes are.
async function leads(page, act) {
  await Promise.all([page.waitForEvent("load"), act()]);
}

// sound looks at pages in one way: none is wider than the window, and axe finds
// nothing.
async function sound(paths, options) {
  const page = await open(paths[0], options);
  for (const path of paths) {
    if (path !== paths[0]) { await page.goto(base + path); }
    await fits(page, path);
    await page.evaluate(axe);
    const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    for (const v of found.violations) {
      check(false, path, JSON.stringify(options), v.id, v.nodes.length, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary.slice(0, 260)));
    }
  }
  await page.context().close();
}

// narrow looks whether pages are no wider than the window, alone: axe takes its time.
async function narrow(paths, options) {
  for (const path of paths) {
    const page = await (await browser.newContext(options)).newPage();
    await page.goto(base + path);
    await fits(page, path);
    await page.context().close();
  }
}

async function fits(page, path) {
  // A phone's innerWidth grows with what does not fit.
  const wide = await page.evaluate((width) => document.documentElement.scrollWidth - width, page.viewportSize().width);
  check(wide <= 0, path + ": wider than the window by", wide);
}

// test runs one check, and goes on to the next when it fails. ONLY is a part of the names
// of those to run, for whoever works on one.
async function test(name, run) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) { return; }
  const before = wrong, began = performance.now();
  try { await run(); } catch (e) { check(false, "failed:", e.message); }
  console.log(wrong === before ? "ok" : "NOT OK", name, Math.round(performance.now() - began) + " ms");
  for (const context of browser.contexts()) { await context.close(); }
}

const { default: checks } = await import(`./studio-${kind}.mjs`);
await checks({ base, folder, rest, browser, check, equal, open, leads, hindered, sound, narrow, test, desktop, phone, dark, chinese });
await browser.close();
process.exit(Math.min(wrong, 100));
