// The frame of every page, with all that its head can hold: a database's pages and a button.
export default async function ({ check, equal, open, narrow, test, phone }) {
  const small = { ...phone, viewport: { width: 360, height: 740 } };

  await test("no page is wider than a phone, with all in its head", async () => {
    const paths = ["/", "/m/order", "/m/order/simulate", "/m/order/live", "/m/order/diff", "/find", "/lags", "/rules/FSM012", "/nothing", "/m/wide", "/m/wide/simulate", "/m/wide/live"];
    await narrow(paths, { ...small, locale: "en-US" });
    await narrow(paths, { ...small, locale: "zh-CN" });
    await narrow(["/", "/m/order"], { ...phone, locale: "en-US" });
    const page = await open("/find", small);
    equal(await page.locator(".tools").evaluate((at) => at.scrollWidth - at.clientWidth), 0, "and all of the head is seen");
    equal(await page.locator(".action button").evaluate((at) => document.elementFromPoint(at.getBoundingClientRect().x + 20, at.getBoundingClientRect().y + 10) === at), true, "its button, too");
  });

  await test("of the pages of a machine the one that is open is in view", async () => {
    for (const width of [390, 360, 320]) {
      for (const locale of ["en-US", "zh-CN"]) {
        for (const path of ["/m/lamp/live", "/m/order/live", "/m/order/diff", "/m/order"]) {
          const page = await open(path, { ...phone, locale, viewport: { width, height: 740 } });
          const [left, right] = await page.locator(".menu [aria-current]").evaluate((at) => { const b = at.getBoundingClientRect(); return [b.left, b.right]; });
          check(left >= 0 && right <= width, path + " " + locale + " " + width, left, right);
          await page.context().close();
        }
      }
    }
  });

  await test("what is chosen in any picture is in the address, and is read from it", async () => {
    const near = ["COMPLETED", "PAID", "REFUNDING", "SHIPPED"];
    const lit = (page) => page.locator("#figure .picked [data-state].on").evaluateAll((all) => all.map((s) => s.dataset.state).sort());
    for (const path of ["/m/order/live", "/m/order/simulate"]) {
      for (const javaScriptEnabled of [true, false]) {
        const page = await open(path + "?state=SHIPPED", { javaScriptEnabled });
        equal(await lit(page), near, path);
        await page.context().close();
      }
    }
    const life = "?s=1/.create,customer_id=ann,sku=tea,quantity=2,total_cents=100/pay";
    const page = await open("/m/order/simulate" + life);
    await page.locator('#figure [data-state="SHIPPED"]').click();
    equal(await page.evaluate(() => location.search), life + "&state=SHIPPED", "the life is left as it was written");
    check((await page.locator(".switch a").getAttribute("href")).endsWith(life + "&state=SHIPPED&lang=zh"), "in the other language, too");
    await page.keyboard.press("Escape");
    equal(await page.evaluate(() => location.search), life, "and after it was let go");
  });

  await test("the tools of a picture cover no state", async () => {
    for (const options of [{}, phone]) {
      for (const path of ["/m/lamp", "/m/lamp/simulate", "/m/order"]) {
        const page = await open(path, options);
        const covered = await page.evaluate(() => {
          const tools = document.querySelector(".zoom").getBoundingClientRect();
          return [...document.querySelectorAll("#figure svg [data-state]")].map((s) => s.getBoundingClientRect())
            .filter((s) => s.left < tools.right && s.right > tools.left && s.top < tools.bottom && s.bottom > tools.top).length;
        });
        equal(covered, 0, path + " " + JSON.stringify(options));
        equal(await page.evaluate(() => document.querySelector(".zoom").getBoundingClientRect().bottom <= document.querySelector("#figure svg").getBoundingClientRect().top), true, path + ": they have a place of their own");
        equal(await page.evaluate(() => document.querySelector(".zoom").getBoundingClientRect().bottom <= document.querySelector("#figure .scroll").getBoundingClientRect().top), true, path + ": also when what is below them is scrolled");
        await page.context().close();
      }
    }
  });

  await test("the words of a button are one line within it", async () => {
    for (const locale of ["en-US", "zh-CN"]) {
      for (const path of ["/m/order/diff", "/find", "/m/order/live"]) {
        const page = await open(path, { ...small, locale });
        equal(await page.locator("main form button").evaluateAll((all) => all.filter((b) => b.scrollHeight > b.clientHeight).map((b) => b.textContent)), [], path + " " + locale);
        await page.context().close();
      }
    }
  });

  await test("a key leads past the stories of a simulated life", async () => {
    const page = await open("/m/order/simulate");
    await page.locator("#main .skip").focus();
    check(await page.locator("#main .skip").evaluate((at) => at.getBoundingClientRect().left >= 0), "it is seen when it has the focus");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    check(await page.evaluate(() => !!document.activeElement.closest(".sim-do")), "the next key is among the calls");
  });
}
