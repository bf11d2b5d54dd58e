// screenshots-storm.mjs ORDERS FSMGEN OUT takes the pictures of the live page in a storm:
// the programs are those of make serve, and are run from the module's folder.
import { chromium } from "playwright-core";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";

const [orders, fsmgen, out] = process.argv.slice(2);
const service = spawn(orders, ["serve"], {
  stdio: ["ignore", "pipe", "ignore"],
  env: { ...process.env, FSMGEN: fsmgen, ADDR: "127.0.0.1:0", ADMIN_ADDR: "", STUDIO_ADDR: "", DATABASE_URL: "", REDIS_URL: "", PROVIDER_URL: "" },
});
const ended = once(service, "exit");
try {
  const address = await new Promise((found, missed) => {
    createInterface({ input: service.stdout }).on("line", (line) => {
      const at = /^ {2}(http:\S+\/m\/order\/live)$/.exec(line);
      if (at) { found(at[1]); }
    }).on("close", () => missed(new Error("the service printed no address")));
  });
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  const open = async (options) => {
    const page = await (await browser.newContext({ reducedMotion: "reduce", ...options })).newPage();
    page.setDefaultTimeout(180_000);
    await page.goto(address);
    return page;
  };
  // told waits until so many deliveries were told again.
  const told = (page, least) => page.waitForFunction((least) =>
    Number(document.querySelector("#live-numbers > div:last-child dd").textContent.replace(/\D/g, "")) > least, least);

  const desktop = await open({ viewport: { width: 1440, height: 900 } });
  const phone = await open({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true, locale: "zh-CN" });
  await desktop.getByRole("button", { name: "Storm" }).click();
  await desktop.mouse.move(2, 2);
  await told(desktop, 300);
  await desktop.screenshot({ path: join(out, "studio-storm.png") });
  await told(phone, 300);
  await phone.screenshot({ path: join(out, "studio-storm-phone.png") });
  await desktop.locator("#outcomes").evaluate((at) => { at.scrollIntoView(); });
  await desktop.screenshot({ path: join(out, "studio-storm-outcomes.png") });
  await browser.close();
} finally {
  service.kill("SIGTERM");
  await ended;
}
