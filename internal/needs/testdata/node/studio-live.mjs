// The database side of the studio: figures that change, one row's life, and what waits.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export default async function ({ folder, check, equal, open, leads, sound, test, phone, dark, chinese }) {
  const row = "/m/order/rows/00000000-0000-4000-8000-000000000001";

  await test("every page holds in both themes and languages, wide and narrow, without findings of axe", async () => {
    const paths = ["/m/order/live", row, "/lags", "/find?q=p1&stay=1", "/", "/m/gone/live", "/m/order/rows/nothing"];
    await sound(paths, {});
    await sound(paths, { ...phone, ...dark, ...chinese });
    await sound(["/m/order/live", row], dark);
    await sound(["/m/order/live", row, "/lags"], phone);
  });

  await test("a row is found, and its life is read", async () => {
    const page = await open("/m/order/live");
    await page.locator("#find-q").fill("p1");
    await leads(page, () => page.keyboard.press("Enter"));
    check(page.url().endsWith(row), "it is its page", page.url());
    equal(await page.locator(".name.big").textContent(), "PAID", "where it stands");
    equal(await page.locator(".timeline > .of-entry").count(), 2, "what moved it");
    check(await page.locator(".timeline > .of-delivery .replay").count() === 1, "that it was told again");
  });

  await test("a row that moves is seen to, without a reload", async () => {
    const page = await open("/m/order/live");
    const rows = (n) => page.locator("#live-states tbody tr").nth(n).locator("td").first();
    await page.waitForFunction(() => document.querySelectorAll("#live-states tbody td.num")[0].textContent === "1");
    await page.evaluate(() => { window.same = true; document.querySelector("#table-moves summary").click(); document.querySelector("#table-moves .table").focus(); });
    writeFileSync(join(folder, "move"), "");
    await page.waitForFunction(() => document.querySelectorAll("#live-states tbody tr")[2].querySelector("td").textContent === "2");
    equal(await rows(0).textContent(), "0", "it has left");
    check(await page.evaluate(() => window.same), "the page is the same");
    check(await page.locator("#table-moves[open]").count() === 1, "and what was opened is open");
    for (let i = 0; i < 2; i++) { // and the figures go on
      const times = await page.locator("#live-fresh time").evaluateAll((all) => all.map((at) => at.dateTime).join());
      await page.waitForFunction((was) => [...document.querySelectorAll("#live-fresh time")].map((at) => at.dateTime).join() !== was, times);
    }
    check(await page.evaluate(() => document.activeElement.matches("#table-moves .table")), "a key still slides the table that it was in");
    check(await page.locator("#figure .pawl-figure .flow").count() > 0, "its arrow says so");
  });

  await test("on a phone a row of a long table is a block, and what is wider shows that it slides", async () => {
    const small = { ...phone, viewport: { width: 360, height: 740 } };
    for (const path of ["/m/order/suites", "/lags", "/m/order/live", "/find?q=p1&stay=1"]) {
      const page = await open(path, small);
      if (path === "/lags") { await page.locator("#lags .stacked").first().waitFor(); }
      const wide = await page.locator(".stacked").evaluateAll((all) => all.filter((at) => at.scrollWidth > at.clientWidth).length);
      equal(wide, 0, path + ": nothing slides in them");
      check(await page.locator(".stacked").count() > 0, path + ": there are some");
      const plain = await page.locator(".table:not(.stacked)").evaluateAll((all) => all.filter((at) => !getComputedStyle(at).backgroundImage.includes("gradient")).length);
      equal(plain, 0, path + ": a shadow says so");
      await page.context().close();
    }
    const page = await open("/m/order/suites", small);
    const download = page.locator(".stacked .files a").first();
    check(await download.evaluate((at) => at.getBoundingClientRect().right <= innerWidth), "a download is in view");
  });

  await test("without a script everything is there", async () => {
    const page = await open("/m/order/live", { javaScriptEnabled: false });
    check(await page.locator("#live-states tbody tr").count() === 8, "the states");
  });
}
