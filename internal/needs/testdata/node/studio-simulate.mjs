// What a person does on the page that simulates a row's life.
const order = "/m/order/simulate";
const ordered = order + "?s=1/.create,customer_id=ann,sku=tea,quantity=2,total_cents=100";
const paid = ordered + "/payment_succeeded,payment_no=p1,paid_cents=100";

export default async function ({ check, equal, open, leads, sound, test, phone, dark, chinese }) {
  const here = (page) => page.locator("#figure .here").evaluateAll((all) => all.map((s) => s.dataset.state));
  const said = async (page) => (await page.locator(".answer .said").innerText()).split(/\s+/).slice(0, 2).join(" ");
  const fire = (page, name) => page.locator(".fire", { hasText: new RegExp("^" + name + "\\b") }).first();
  const told = (page, text) => page.locator(".answer .said", { hasText: new RegExp("\\b" + text + "\\b") }).waitFor(); // pay is no payment

  await test("a row is led through its life by clicks", async () => {
    const page = await open(order);
    equal(await here(page), ["PENDING"], "it begins with a row");
    await page.evaluate(() => { window.same = true; });
    await fire(page, "pay").click();
    await told(page, "pay");
    equal(await here(page), ["PAYING"], "pay");
    equal(await page.locator("#figure .pawl-edge.took").evaluateAll((all) => all.map((e) => e.dataset.from + " " + e.dataset.to)), ["PENDING PAYING"], "the arrow it took");
    equal(await page.evaluate(() => document.activeElement.id), "now", "what happened has the focus");
    await fire(page, "payment_succeeded").click();
    await told(page, "payment_succeeded");
    equal(await said(page), "Applied payment_succeeded", "the answer");
    await page.locator(".answer a", { hasText: "Tell it again" }).click();
    await told(page, "Replayed");
    await page.locator(".tape > li").nth(2).locator("a", { hasText: "Tell it with" }).click();
    await told(page, "Mismatched");
    equal(await page.locator(".tape > li").count(), 5, "all of it is on the tape");
    check(await page.evaluate(() => window.same), "the page was not loaded again");
    await page.goBack();
    await told(page, "Replayed");
    await page.goForward();
    await told(page, "Mismatched");
    await page.locator(".tape > li").nth(1).locator("a", { hasText: "Back to here" }).click();
    await told(page, "pay");
    equal(await here(page), ["PAYING"], "back to the second step");
    await page.reload();
    equal(await here(page), ["PAYING"], "the address has all of it");
  });

  await test("values are chosen, and time passes", async () => {
    const page = await open(ordered);
    const way = page.locator(".group li", { has: page.locator("details") }).filter({ hasText: "payment_succeeded" }).first();
    await way.locator("summary").click();
    await way.getByLabel("paid_cents").fill("7");
    await way.getByLabel("paid_cents").press("Enter");
    await told(page, "Compensated");
    check((await page.locator(".answer").innerText()).includes("false"), "the guard is false");
    await page.locator(".fire.first").click();
    await told(page, "expire");
    equal(await here(page), ["CANCELLED"], "the deadline");
    await page.getByLabel("Another time").fill("soon");
    await page.getByLabel("Another time").press("Enter");
    await told(page, "cannot be read");
    await page.locator("summary", { hasText: "correction" }).click();
    await page.getByLabel("Force the row into").selectOption("SHIPPED");
    await page.locator("button", { hasText: "Correct" }).click();
    await told(page, "corrects");
    equal(await here(page), ["SHIPPED"], "support");
    equal(await page.locator(".tape > li").count(), 6, "a creation, a payment, a wait, a sweep, what cannot be read, a correction");
  });

  await test("a story is told, and its link copied", async () => {
    const page = await open(order);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.locator(".stories a", { hasText: "Too late" }).click();
    await page.locator('.stories a[aria-current="true"]').waitFor();
    equal(await here(page), ["REFUNDING"], "the money goes back");
    await page.locator("#copy-link").click();
    await page.locator("#copied", { hasText: "Copied" }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    await page.goto(link);
    equal(await here(page), ["REFUNDING"], "the link leads there");
  });

  await test("the keyboard does as much", async () => {
    const page = await open(ordered);
    await fire(page, "cancel").focus();
    await page.keyboard.press("Enter");
    await told(page, "cancel");
    await page.keyboard.press("Tab");
    check(await page.evaluate(() => document.querySelector(".now").contains(document.activeElement)), "the next key is where it happened");
  });

  await test("hostile names are led through, too", async () => {
    const page = await open("/m/hostile/simulate");
    await page.locator(".group:not(.quiet) .fire").first().click();
    await page.locator(".tape > li").nth(1).waitFor();
    equal(await here(page), ["a::b"], "a step");
  });

  await test("without a script every step is a link", async () => {
    const page = await open(ordered, { javaScriptEnabled: false });
    await leads(page, () => fire(page, "pay").click());
    equal(await here(page), ["PAYING"], "a link");
    const way = page.locator(".group li", { has: page.locator("details") }).filter({ hasText: "payment_succeeded" }).first();
    await way.locator("summary").click();
    await way.getByLabel("payment_no").fill("mine");
    await leads(page, () => way.locator("button").click());
    equal(await here(page), ["PAID"], "a form");
    check(page.url().includes("payment_no=mine"), "is a link again", page.url());
    equal(await page.locator(".needs-script:visible").count(), 0, "no tool that does nothing");
  });

  await test("the pages are sound in every dress", async () => {
    const full = paid + "/refund,refund_no=r1,amount_cents=500";
    await sound([full, paid + "/nothing/pay/.what", order + "?s=1", "/m/hard/simulate?s=1/.create/e"], {});
    await sound([full, "/m/hostile/simulate", "/m/m1/simulate"], { ...phone, ...dark, ...chinese });
  });
}
