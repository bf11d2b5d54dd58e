// The definition side of the studio: pictures, edits, findings, suites and differences.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export default async function ({ folder, check, equal, open, leads, sound, narrow, test, phone, dark, chinese }) {
  const edit = (name, change) => {
    const path = join(folder, name), before = readFileSync(path, "utf8"), after = change(before);
    check(before !== after, "the edit of " + name + " changes it");
    writeFileSync(path, after);
    return () => writeFileSync(path, before);
  };
  const lit = (page) => page.locator("#figure .picked [data-state].on").evaluateAll((all) => all.map((s) => s.dataset.state).sort());
  const asked = (page) => page.evaluate(() => location.search);
  const size = (page) => page.locator("#figure [data-zoom-now]").textContent().then((t) => parseInt(t, 10));
  const center = async (at) => { const b = await at.boundingBox(); return { x: b.x + b.width / 2, y: b.y + b.height / 2 }; };
  const state = (page, name) => page.locator(`#figure [data-state="${name}"]`);

  await test("a state is picked by mouse, kept in the address, and let go", async () => {
    const page = await open("/");
    await leads(page, () => page.locator("h2 a", { hasText: "order" }).click());
    await state(page, "SHIPPED").hover();
    equal(await lit(page), ["COMPLETED", "PAID", "REFUNDING", "SHIPPED"], "SHIPPED with its neighbours");
    await state(page, "SHIPPED").click();
    await page.mouse.move(1, 1);
    equal(await asked(page), "?state=SHIPPED", "the address says so");
    await page.reload();
    equal(await lit(page), ["COMPLETED", "PAID", "REFUNDING", "SHIPPED"], "and shows it to others");
    await page.locator('[data-pick-event="cancel"]').click();
    equal(await asked(page), "?event=cancel", "an event, too");
    await leads(page, () => page.locator(".switch a").click());
    equal(await lit(page), ["CANCELLED", "PAYING", "PENDING"], "in the other language");
    await page.keyboard.press("Escape");
    equal(await lit(page), [], "Escape lets go");
    equal(await asked(page), "?lang=zh", "of the address as well");
  });

  await test("a picture is sized and moved by mouse", async () => {
    const page = await open("/m/order");
    equal(await size(page), 100, "it begins as it is");
    const at = await center(state(page, "PAYING"));
    await page.mouse.move(at.x, at.y);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await page.waitForFunction(() => parseInt(document.querySelector("[data-zoom-now]").textContent, 10) > 150);
    const is = await center(state(page, "PAYING"));
    check(Math.hypot(is.x - at.x, is.y - at.y) < 4, "what is pointed at stays there", JSON.stringify([at, is]));
    await page.mouse.down();
    await page.mouse.move(at.x - 60, at.y - 30, { steps: 4 });
    await page.mouse.up();
    const moved = await center(state(page, "PAYING"));
    check(Math.abs(moved.x - is.x + 60) < 3, "it is dragged", JSON.stringify([is, moved]));
    equal(await asked(page), "", "and what was dragged is not picked");
    await page.mouse.click(moved.x, moved.y);
    equal(await asked(page), "?state=PAYING", "but what is clicked is");
    await page.locator('[data-zoom-by="0"]').click();
    equal(await size(page), 100, "the button in the middle fits it");
    await page.locator('[data-zoom-by="-1"]').click();
    check(await size(page) < 100, "a tall one gets small enough to be seen whole", await size(page));
  });

  await test("a picture is sized and walked by keyboard", async () => {
    const page = await open("/m/order");
    await page.locator('#figure [data-state][tabindex="0"]').focus();
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    equal(await size(page), 182, "larger twice");
    await page.keyboard.press("ArrowDown");
    const second = await page.evaluate(() => document.activeElement.dataset.state);
    check((await lit(page)).includes(second), "an arrow goes on and shows", second);
    await page.keyboard.press("Enter");
    equal(await asked(page), "?state=" + second, "Enter keeps");
    await page.keyboard.press("-");
    equal(await size(page), 135, "smaller");
    await page.keyboard.press("0");
    equal(await size(page), 100, "0 fits");
    await page.locator("#figure-scroll").focus();
    check(await page.evaluate(() => document.activeElement.id === "figure-scroll"), "its frame takes the focus, to be scrolled");
  });

  await test("a picture is sized and picked by touch", async () => {
    const page = await open("/m/order", phone);
    const first = await size(page);
    await page.locator("#figure-scroll").scrollIntoViewIfNeeded();
    const box = await page.locator("#figure-scroll").boundingBox();
    const touch = await page.context().newCDPSession(page);
    const x = 195, y = Math.max(box.y, 250) + 150;
    const fingers = (apart) => [{ x: x - apart, y, id: 0 }, { x: x + apart, y, id: 1 }];
    await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: fingers(40) });
    for (const apart of [50, 60, 70, 80]) { await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: fingers(apart) }); }
    await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    const second = await size(page);
    check(second > first * 1.6, "two fingers make it larger", first, second);
    equal(await page.evaluate(() => window.visualViewport.scale), 1, "the page stays");
    await page.locator('[data-zoom-by="0"]').tap();
    await state(page, "PENDING").tap();
    equal(await asked(page), "?state=PENDING", "a tap keeps");
    check(await page.evaluate((width) => document.documentElement.scrollWidth <= width, page.viewportSize().width), "nothing is wider than the phone");
  });

  await test("the page follows an edit, and stays as the reader has it", async () => {
    const page = await open("/m/order");
    await page.evaluate(() => { window.same = true; });
    await page.locator("#figure [data-state][tabindex='0']").focus();
    await page.keyboard.press("+");
    await page.keyboard.press("Enter");
    const kept = await lit(page), query = await asked(page);
    await page.locator(".pawl-search").fill("refund");
    const cells = await page.locator(".matrix td:visible:not(.pawl-off)").count();
    await state(page, kept[0]).evaluate((s) => document.querySelector("[data-state][tabindex='0']").focus());
    await page.evaluate(() => window.scrollTo(0, 700));
    const undo = edit("order.yaml", (text) => text.replace("One customer order", "One edited order"));
    await page.locator(".lead", { hasText: "One edited order" }).waitFor();
    check(await page.evaluate(() => window.same), "it was not loaded anew");
    equal(await page.evaluate(() => window.scrollY), 700, "where it was");
    equal(await size(page), 135, "as large as it was");
    equal(await lit(page), kept, "with what was kept");
    equal(await asked(page), query, "at its address");
    check(query.startsWith("?state="), "which says it", query);
    check(await page.evaluate(() => document.activeElement.dataset.state !== undefined), "with the focus where it was");
    equal(await page.locator(".pawl-search").inputValue(), "refund", "with what was searched");
    equal(await page.locator(".matrix td:visible:not(.pawl-off)").count(), cells, "and found");
    equal(await page.locator("#link-state").textContent(), "Definitions were edited: the page is up to date", "it says so to whoever does not see it");
    await state(page, "PAID").click();
    await page.mouse.move(1, 1);
    check((await lit(page)).includes("PAID"), "and it works on");
    undo();
    await page.locator(".lead", { hasText: "One customer order" }).waitFor();
  });

  await test("a mistake leaves the picture, and shows the finding beside its line", async () => {
    const page = await open("/m/lamp");
    const undo = edit("lamp.yaml", (text) => text.replace('to: "OFF"', 'to: "BLUE"'));
    await page.locator(".banner.bad").waitFor();
    equal(await page.locator("#figure svg [data-state]").count(), 2, "the last picture");
    await leads(page, () => page.locator(".banner.bad a").click());
    check(page.url().endsWith("/source"), "it leads to the source", page.url());
    const line = page.locator(".code li.bad");
    check((await line.textContent()).includes('"BLUE"'), "the line");
    equal(await line.locator(".finding").count(), 1, "with its finding");
    await page.locator(".findings .at").click();
    check(await line.evaluate((at) => { const b = at.getBoundingClientRect(); return b.top > 90 && b.bottom < innerHeight; }), "the list leads to it");
    await leads(page, () => line.locator(".rule").click());
    check(page.url().includes("/rules/FSM"), "its rule has a page", page.url());
    check((await page.locator("main").textContent()).includes("A case that passes"), "and to what explains it");
    await page.goBack();
    undo();
    await page.locator(".findings").waitFor({ state: "detached" });
    equal(await page.locator(".code li.bad").count(), 0, "and it goes as it came");
  });

  await test("a page that was out of sight hears what it missed", async () => {
    const page = await open("/m/lamp");
    await page.evaluate(() => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => window.away });
      window.away = true;
      document.dispatchEvent(new Event("visibilitychange"));
    });
    const undo = edit("lamp.yaml", (text) => text.replace("A lamp", "A lamp in the dark"));
    const other = await open("/m/lamp");
    await other.locator(".lead", { hasText: "in the dark" }).waitFor();
    equal(await page.locator(".lead").textContent(), "A lamp", "it hears nothing meanwhile");
    await page.evaluate(() => { window.away = false; document.dispatchEvent(new Event("visibilitychange")); });
    await page.locator(".lead", { hasText: "in the dark" }).waitFor();
    undo();
    await page.locator(".lead", { hasText: /^A lamp$/ }).waitFor();
  });

  await test("what is offered for download is there", async () => {
    const page = await open("/m/order/suites");
    const links = await page.locator("a[download]").evaluateAll((all) => all.map((a) => a.href));
    check(links.length > 50, "diagrams, matrices and suites", links.length);
    for (const name of ["Mermaid", "Excel", "Gherkin"]) {
      const [file] = await Promise.all([page.waitForEvent("download"), page.locator("a[download]").filter({ hasText: new RegExp("^" + name + "$") }).first().click()]);
      check(/^order.*\.(mmd|xlsx|feature)$/.test(file.suggestedFilename()), name, file.suggestedFilename());
    }
    await leads(page, () => page.locator("th a", { hasText: "races" }).click());
    await page.locator("#case-filter input").fill("ship");
    check(/^\d+ of \d+ cases$/.test(await page.locator("#case-count").textContent()), "cases are searched");
  });

  await test("a difference is drawn and can be asked for", async () => {
    const page = await open("/m/order/diff");
    equal(await page.locator("#diff-figure .pawl-arc.changed").evaluateAll((all) => all.map((a) => a.dataset.event)), ["ship"], "what changed");
    check((await page.locator("#changes ~ *").allTextContents()).join().includes("order_shipped"), "in words");
    await page.locator("#commits summary").click();
    await leads(page, () => page.locator("#commits a").first().click());
    check(/since=[0-9a-f]+$/.test(page.url()), "a commit is one to differ from", page.url());
    await page.locator("#since").fill("v1");
    await leads(page, () => page.keyboard.press("Enter"));
    equal(await page.locator("#diff-figure .pawl-arc.changed").count(), 1, "since a tag");
    await page.locator("#since").fill("nothing like it");
    await leads(page, () => page.locator(".since button").click());
    equal(await page.locator(".banner.bad").count(), 1, "what there is not is said");
  });

  await test("a machine of forty states is seen whole and state by state", async () => {
    const page = await open("/m/journey");
    equal(await page.locator("#figure svg [data-state]").count(), 40, "all states");
    for (let i = 0; i < 9; i++) { await page.locator('[data-zoom-by="-1"]').click(); }
    check(await page.locator("#figure svg").evaluate((svg) => svg.getBoundingClientRect().height < innerHeight), "small enough to be seen at once");
    await state(page, "STOP_5").click();
    await page.mouse.move(1, 1);
    equal(await lit(page), ["STOP_0", "STOP_4", "STOP_5", "STOP_6"], "a state with its neighbours");
    await page.locator("details summary", { hasText: "STOP_12" }).click();
    check(await page.locator("details[open] svg").isVisible(), "and alone");
    const undo = edit("journey.yaml", (text) => text + "\n# more\n");
    await page.locator("#link-state", { hasText: "edited" }).waitFor({ state: "attached" });
    check(await page.locator("details[open] svg").isVisible(), "open as it was");
    undo();
  });

  await test("hostile names do nothing", async () => {
    const page = await open("/m/hostile");
    await page.locator("#figure svg [data-state]").nth(2).click();
    equal(await page.locator("#figure .on[data-state]").count(), 3, "and work as others do");
    await page.reload();
    equal(await page.locator("#figure .on[data-state]").count(), 3, "in the address, too");
  });

  await test("without a script everything is there", async () => {
    const page = await open("/m/order?event=cancel", { javaScriptEnabled: false });
    equal(await page.locator(".needs-script:visible").count(), 0, "no tool that does nothing");
    equal(await lit(page), ["CANCELLED", "PAYING", "PENDING"], "what the address asks for");
    await leads(page, () => page.locator("noscript a", { hasText: "SHIPPED" }).click());
    equal(await lit(page), ["COMPLETED", "PAID", "REFUNDING", "SHIPPED"], "and what is chosen");
    await leads(page, () => page.locator(".menu a", { hasText: "Diff" }).click());
    await page.locator("#since").fill("v1");
    await leads(page, () => page.locator(".since button").click());
    equal(await page.locator("#diff-figure .pawl-arc.changed").count(), 1, "the difference");
  });

  await test("every page holds in both themes and languages, wide and narrow, without findings of axe", async () => {
    const paths = [
      "/", "/m/lamp", "/m/order/source", "/m/broken/source", "/m/order/suites", "/m/lamp/suites/races", "/m/order/diff", "/m/lamp/diff", "/m/hostile", "/m/broken", "/rules/FSM012",
    ];
    await sound([...paths, "/m/order?event=cancel"], {});
    await sound([...paths, "/m/m1"], { ...phone, ...dark, ...chinese });
    await narrow(["/m/order", "/m/order/suites/races", "/m/journey?state=STOP_5", "/m/none", "/m/order/diff"], phone);
    await narrow(["/m/order/diff"], { ...phone, viewport: { width: 360, height: 740 } });
  });
}
