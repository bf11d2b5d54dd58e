// A storm of the orders example, watched by people: studio.mjs storm URL PRESS, where
// PRESS is the address of its button.
export default async function ({ base, folder: press, browser, check, equal, hindered, sound, test, desktop, phone }) {
  // open is a page of which every error is noted, and every request that goes elsewhere.
  async function open(path, options = {}) {
    const context = await browser.newContext({ locale: "en-US", ...desktop, ...options });
    context.setDefaultTimeout(120_000);
    const page = await context.newPage(), presses = [];
    page.on("console", (m) => check(false, path + ": console", m.type(), m.text()));
    page.on("pageerror", (e) => check(false, path + ": error", e.message));
    page.on("response", (r) => {
      if (r.request().method() === "POST") { presses.push(r.status() + " " + r.url()); return; }
      check(r.url().startsWith(base + "/") || r.url().startsWith("data:"), path + ": request", r.url());
    });
    await hindered(page);
    await page.goto(base + path);
    return { page, presses };
  }
  const pressed = (page) => page.waitForResponse((r) => r.request().method() === "POST");
  const storm = (page) => page.getByRole("button", { name: "Storm" });
  // figure is a number of the live page, by the words above it.
  const figure = (page, words) => page.locator("#live-numbers > div").filter({ hasText: words }).locator("dd");
  const above = (page, words, least) => page.waitForFunction(([words, least]) =>
    [...document.querySelectorAll("#live-numbers > div")].some((d) => d.textContent.includes(words) && Number(d.querySelector("dd").textContent.replace(/[^0-9.]/g, "")) > least),
  [words, least]);

  await test("a press moves the figures, and what is told again is counted", async () => {
    const { page, presses } = await open("/m/order/live");
    equal(await figure(page, "Told again").textContent(), "0", "nothing was told yet");
    await Promise.all([pressed(page), storm(page).click()]);
    equal(presses, ["204 " + press], "the storm was asked for");
    equal(page.url(), base + "/m/order/live", "the page stayed");
    equal(await page.locator("#link-state").textContent(), "Sent: Storm", "and says so");
    await page.waitForFunction(() => /Told again\s*[1-9]/.test(document.getElementById("live-now").textContent));
    check(await page.locator("#live-now").evaluate((at) => at.getBoundingClientRect().bottom < innerHeight), "that some bounced off is seen without scrolling");
    equal(await page.locator("#live-said").textContent(), "Providers are telling the inbox", "and is said once");
    await above(page, "Rows", 20);
    await above(page, "Told again", 30);
    await above(page, "Moves a minute", 1);
    const paid = page.locator("#live-states tr").filter({ hasText: "PAID" }).first();
    check(Number((await paid.locator("td").first().textContent()).replace(/\D/g, "")) > 0, "orders are paid", await paid.textContent());
    check(/Told again\s*[1-9]/.test(await page.locator("#live-told").textContent()), "and duplicates are drawn", await page.locator("#live-told").textContent());
  });

  await test("the keyboard presses too, on every page", async () => {
    for (const path of ["/", "/lags"]) {
      const { page, presses } = await open(path);
      await storm(page).focus();
      await Promise.all([pressed(page), page.keyboard.press("Enter")]);
      equal(presses, ["204 " + press], path);
      equal(page.url(), base + path, "the page stayed");
    }
  });

  await test("so does a browser without a script", async () => {
    const { page, presses } = await open("/m/order/live?lang=zh", { javaScriptEnabled: false, ...phone });
    await Promise.all([pressed(page), page.getByRole("button", { name: "风暴" }).click()]);
    equal(presses, ["204 " + press], "the storm was asked for");
    equal(await page.locator("h1").textContent(), "实时 order", "the page stayed");
  });

  await test("the live page is sound in a storm", async () => {
    await sound(["/m/order/live"], phone);
    await sound(["/m/order/live?lang=zh"], { colorScheme: "dark" });
  });
}
