// docs.mjs FOLDER uses the pages of a folder as a person does, in a browser that
// has no network, and ends with the number of things that were wrong.
import { chromium } from "playwright-core";
import { readFileSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = process.argv[2];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let wrong = 0;
const check = (ok, what, ...more) => { if (!ok) { wrong++; console.log("WRONG:", what, ...more); } };
const equal = (have, want, what) => check(JSON.stringify(have) === JSON.stringify(want), what, "have", JSON.stringify(have), "want", JSON.stringify(want));
const at = (path) => pathToFileURL(join(folder, path.split("#")[0])).href + (path.includes("#") ? "#" + path.split("#")[1] : "");

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });

// open gives a page on which every error, message and request is noted.
async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true, bypassCSP: false, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on("console", (m) => check(false, path + ": console", m.type(), m.text()));
  page.on("pageerror", (e) => check(false, path + ": error", e.message));
  page.on("request", (r) => check(r.url().startsWith("file://" ) && r.isNavigationRequest(), path + ": request", r.url()));
  await page.goto(at(path));
  return page;
}

const lit = (page) => page.locator("#figure .picked [data-state].on").evaluateAll((all) => all.map((s) => s.dataset.state).sort());
const machine = "en/order/index.html";

await test("a state shows its transitions while it is pointed at", async () => {
  const page = await open(machine);
  equal(await lit(page), [], "nothing is shown alone at first");
  await page.locator('#figure [data-state="SHIPPED"]').hover();
  equal(await lit(page), ["COMPLETED", "PAID", "REFUNDING", "SHIPPED"], "SHIPPED with its neighbours");
  equal(await page.locator("#figure [data-event].on").evaluateAll((all) => [...new Set(all.map((a) => a.dataset.event))].sort()),
    ["receive", "refund", "refund_succeeded", "ship"], "the events of SHIPPED");
  const dim = await page.locator('#figure [data-state="CANCELLED"]').evaluate((s) => { s.style.transition = "none"; return getComputedStyle(s).opacity; });
  check(Number(dim) < 0.3, "the others are dimmed", dim);
  await page.mouse.move(1, 1);
  equal(await lit(page), [], "and all of it is there again");
});

await test("a state that is clicked stays, until it is clicked again or Escape is pressed", async () => {
  const page = await open(machine);
  const state = page.locator('#figure [data-state="REFUNDED"]');
  await state.click();
  await page.mouse.move(1, 1);
  equal(await lit(page), ["REFUNDED", "REFUNDING"], "REFUNDED is kept");
  equal(await state.getAttribute("aria-pressed"), "true", "and says so");
  await page.keyboard.press("Escape");
  equal(await lit(page), [], "Escape lets go");
});

await test("the picture can be walked with the keyboard", async () => {
  const page = await open(machine);
  await page.locator('#figure [data-state][tabindex="0"]').focus();
  const first = await page.evaluate(() => document.activeElement.dataset.state);
  check((await lit(page)).includes(first), "the state with the focus is shown");
  await page.keyboard.press("ArrowDown");
  const second = await page.evaluate(() => document.activeElement.dataset.state);
  check(second && second !== first, "the arrow goes on", second);
  await page.keyboard.press("Enter");
  await page.locator("#theme").focus();
  check((await lit(page)).includes(second), "Enter keeps");
});

await test("an event shows its transitions", async () => {
  const page = await open(machine);
  await page.locator('[data-pick-event="cancel"]').focus();
  equal(await lit(page), ["CANCELLED", "PAYING", "PENDING"], "the states of cancel");
  await page.locator('[data-pick-event="cancel"]').click();
  equal(await page.locator('[data-pick-event="cancel"]').getAttribute("aria-pressed"), "true", "it is kept");
  equal(await page.locator("#figure [data-event].on").evaluateAll((all) => [...new Set(all.map((a) => a.dataset.event))]), ["cancel"], "cancel alone");
  await page.locator('#figure [data-event="pay"]').first().hover();
  equal(await lit(page), ["PAYING", "PENDING"], "an event in the picture too");
  await page.locator('#event-ship a[data-pin-event]').click();
  equal(await lit(page), ["PAID", "SHIPPED"], "and from its description");
});

await test("the matrix is searched and filtered", async () => {
  const page = await open(machine);
  const shown = () => page.locator(".matrix td:visible:not(.pawl-off)").evaluateAll((all) => all.map((c) => c.dataset.state + "/" + c.dataset.event));
  equal((await shown()).length, 96, "all cells at first");
  await page.locator("#matrix-filter select[name=state]").selectOption("PAYING");
  equal((await shown()).length, 12, "those of a state");
  await page.locator("#matrix-filter select[name=event]").selectOption("pay");
  equal(await shown(), ["PAYING/pay"], "one cell");
  await page.locator("#matrix-filter select[name=state]").selectOption("");
  equal((await shown()).length, 8, "those of an event");
  await page.locator("#matrix-filter select[name=event]").selectOption("");
  await page.locator('.pawl-key[data-kind="replay"]').click();
  equal((await shown()).sort(), ["CANCELLED/cancel", "COMPLETED/receive", "COMPLETED/ship", "PAYING/pay", "SHIPPED/ship"], "those that replay");
  await page.locator('.pawl-key[data-kind="replay"]').click();
  await page.locator(".pawl-search").fill("order_paid");
  equal((await shown()).sort(), ["PAYING/payment_succeeded", "PENDING/payment_succeeded"], "those with a word");
});

await test("cases are searched", async () => {
  const page = await open("en/order/all-cells.html");
  const cases = page.locator("#case-list > .case:visible h3");
  const all = await cases.count();
  check(all > 96, "there are cases", all);
  await page.locator("#case-filter input").fill("cancel SHIPPED rejected");
  const found = await cases.allTextContents();
  check(found.length > 0 && found.length < all && found.every((id) => /SHIPPED|cancel/.test(id)), "those with all words", found);
  equal(await page.locator("#case-count").textContent(), `${found.length} of ${all} cases`, "the number of them");
});

await test("the language is switched and remembered, and the place kept", async () => {
  const page = await open(machine + "#event-refund");
  await page.locator(".switch a").click();
  await page.waitForURL(/\/zh\/order\/index\.html#event-refund$/); // the same place in Chinese
  equal(await page.getAttribute("html", "lang"), "zh", "a Chinese page");
  await page.goto(at("index.html"));
  await page.waitForURL(/zh\/index\.html$/);
  await page.locator(".switch a").click();
  await page.waitForURL(/en\/index\.html$/);
  await page.goto(at("index.html"));
  await page.waitForURL(/en\/index\.html$/);
});

await test("the folder opens in the browser's language", async () => {
  const page = await open("index.html", { locale: "zh-CN" });
  await page.waitForURL(/zh\/index\.html$/);
});

await test("the theme is the system's until one is chosen, which is remembered", async () => {
  const page = await open(machine, { colorScheme: "dark" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.locator("#theme").click();
  const light = await ground();
  check(dark !== light, "it changes", dark);
  equal(light, "rgb(255, 255, 255)", "light");
  await page.reload();
  equal(await ground(), light, "it is remembered");
});

await test("every page holds on a phone, in both themes, and without findings of axe", async () => {
  const dark = { colorScheme: "dark" }, phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const looked = [
    ["en/index.html", {}, dark, phone], ["zh/order/index.html", {}], ["en/payment/index.html", dark, phone], ["en/hostile/index.html", {}],
    ["en/payment/all-cells.html", {}, dark], ["zh/m1/index.html", phone], ["zh/m1/races.html", phone],
  ];
  for (const [path, ...ways] of looked) {
    for (const options of ways) {
      const page = await open(path, options);
      const wide = await page.evaluate((width) => document.documentElement.scrollWidth - width, page.viewportSize().width);
      check(wide <= 0, path + ": wider than the window by", wide);
      await page.evaluate(axe);
      const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      for (const v of found.violations) {
        check(false, path, JSON.stringify(options), v.id, v.nodes.length, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary.slice(0, 200)));
      }
      await page.context().close();
    }
  }
});

await test("what is offered for download is there", async () => {
  for (const path of ["en/order/index.html", "zh/payment/guards.html"]) {
    const page = await open(path);
    const links = await page.locator("a[download]").evaluateAll((all) => all.map((a) => a.href));
    check(links.length > 8, path + ": downloads", links.length);
    for (const link of links) { check(existsSync(fileURLToPath(link)), link); }
  }
});

await test("without a script everything can be read", async () => {
  const page = await open(machine, { javaScriptEnabled: false });
  equal(await page.locator(".needs-script:visible").count(), 0, "no tool that does nothing");
  equal(await page.locator("#states ~ .entries > .entry:visible").count(), 8, "all states");
  const start = await open("index.html", { javaScriptEnabled: false });
  equal(await start.locator("a:visible").count(), 2, "both languages");
});

await test("hostile names do nothing", async () => {
  const page = await open("en/hostile/index.html");
  await page.locator("#figure [data-state]").nth(2).click();
  equal(await page.locator("#figure .on[data-state]").count(), 3, "and work as others do");
});

async function test(name, run) {
  const before = wrong;
  try { await run(); } catch (e) { check(false, "failed:", e.message); }
  console.log(wrong === before ? "ok" : "NOT OK", name);
  for (const context of browser.contexts()) { await context.close(); }
}
await browser.close();
process.exit(Math.min(wrong, 100));
