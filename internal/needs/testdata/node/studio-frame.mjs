// The frame of every page, with all that its head can hold: a database's pages and a button.
export default async function ({ check, equal, open, narrow, test, phone }) {
  const small = { ...phone, viewport: { width: 360, height: 740 } };

  await test("no page is wider than a phone, with all in its head", async () => {
    const paths = ["/", "/m/order", "/m/order/simulate", "/m/order/live", "/m/order/diff", "/find", "/lags", "/rules/FSM012", "/nothing"];
    await narrow(paths, { ...small, locale: "en-US" });
    await narrow(paths, { ...small, locale: "zh-CN" });
    await narrow(["/", "/m/order"], { ...phone, locale: "en-US" });
    const page = await open("/find", small);
    equal(await page.locator(".tools").evaluate((at) => at.scrollWidth - at.clientWidth), 0, "and all of the head is seen");
    equal(await page.locator(".action button").evaluate((at) => document.elementFromPoint(at.getBoundingClientRect().x + 20, at.getBoundingClientRect().y + 10) === at), true, "its button, too");
  });
}
