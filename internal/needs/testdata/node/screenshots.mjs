// screenshots.mjs FOLDER OUT takes the pictures of the documentation from a
// folder of pages: see make screenshots.
import { chromium } from "playwright-core";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, out] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });

// shot takes one picture of a page, after something was done with it.
async function shot(name, path, options, act = async () => {}) {
  const page = await (await browser.newContext({ offline: true, reducedMotion: "reduce", ...options })).newPage();
  await page.goto(pathToFileURL(join(folder, path)).href);
  await act(page);
  await page.screenshot({ path: join(out, name + ".png") });
  await page.context().close();
}
const to = (id) => async (page) => page.locator(id).evaluate((at) => { at.scrollIntoView(); });
const desktop = { viewport: { width: 1280, height: 860 } };
const phone = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true, locale: "zh-CN" };

await shot("docs-index", "en/index.html", { viewport: { width: 1280, height: 660 } });
await shot("docs-picture", "en/order/index.html", desktop, async (page) => {
  await page.locator('#figure [data-state="PAYING"]').click();
  await page.mouse.move(2, 2);
  await page.evaluate(() => window.scrollTo(0, 190));
});
await shot("docs-matrix-dark", "en/order/index.html", { ...desktop, colorScheme: "dark" }, to("#matrix"));
await shot("docs-cases", "en/order/all-cells.html", desktop, async (page) => page.locator("#case-filter input").fill("payment_succeeded paying"));
await shot("docs-phone", "zh/order/index.html", phone, to("#states"));
await browser.close();
