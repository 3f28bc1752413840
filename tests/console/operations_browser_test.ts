import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startVideoGateway, type VideoGateway } from "../support/video_gateway.ts";
import { checkPage, checkShown, endBrowser, stageTest, titleAt } from "./stage.ts";

const CAPTURE = { request_log: { enabled: true, capture: { secret_key: "the-secret-of-the-operator", body: 10_000 } } };
const MARKUP = '<img src=x onerror="document.title=1">';

stageTest("the sign-in page and a page that does not exist are accessible", async (stage) => {
  await checkPage(stage, "", "sign-in");
  await stage.signIn(stage.gateway.adminKey);
  await checkPage(stage, "nothing", "not-found");
});

stageTest("requests are filtered by their facts, on a phone on demand", async (stage) => {
  const { page, chat, open, signIn, gateway } = stage;
  const served = await chat("sandbox/chat-1");
  const refused = await chat("sandbox/unknown");
  await signIn(gateway.adminKey);
  await open("requests?kind=text");
  await page.click("text=Live");
  await page.waitForSelector(`a[href$="${served}"]`);
  await page.fill("input[name=min_cost]", "5");
  await page.click("text=Search");
  await page.getByText("No request matches").waitFor();
  await page.fill("input[name=min_cost]", "");
  await page.fill("input[name=kind]", "");
  await page.getByLabel("Attempts, at most").fill("0");
  await page.getByLabel("Method").selectOption("POST");
  await page.click("text=Search");
  await page.waitForSelector(`a[href$="${refused}"]`);
  assertEquals(await page.locator(`a[href$="${served}"]`).count(), 0);
  await page.getByLabel("Attempts, at most").fill("");
  await page.getByLabel("Method").selectOption("");
  await page.fill("input[name=endpoint]", "/v1/chat/completions");
  await page.click("text=Search");
  await page.waitForSelector(`a[href$="${refused}"]`);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.locator("input[name=endpoint]").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Filters (1)" }).click();
  await page.click("text=Clear");
  await page.getByRole("button", { name: "Filters", exact: true }).waitFor();
  await page.waitForSelector(`a[href$="${served}"]`);
});

stageTest("on a phone, a row of a long list is folded, and nothing of it is beside the window", async (stage) => {
  const { page, chat, open, signIn, gateway } = stage;
  const id = await chat("sandbox/chat-1");
  await signIn(gateway.adminKey);
  await page.setViewportSize({ width: 360, height: 740 });
  await open("requests");
  await page.click("text=Live");
  const row = page.locator("tr", { has: page.locator(`a[href$="${id}"]`) });
  for (const part of ["200", "demo", "sandbox/chat-1", "sandbox-openai", "$", "ms"]) {
    const box = await row.locator("td", { hasText: part }).last().boundingBox();
    assert(box !== null && box.x >= 0 && box.x + box.width <= 360, `${part}: ${JSON.stringify(box)}`);
  }
  assertEquals(await row.getByRole("cell").count(), 9);
  assertEquals(await page.getByRole("columnheader").first().innerText(), "Arrived");
  await row.click();
  await page.getByRole("heading", { name: id }).waitFor();
  await page.locator(".timeline-name", { hasText: "1. sandbox-openai" }).waitFor();
  const isCut = "[...document.querySelectorAll('.timeline-name')].some((each) => each.scrollWidth > each.clientWidth)";
  assertEquals(await page.evaluate(isCut), false);
});

stageTest("times in rows that are links show UTC on hover, and still lead to the page of the row", async (stage) => {
  const { page, context, chat, open, signIn, gateway } = stage;
  const id = await chat("sandbox/chat-1");
  await signIn(gateway.adminKey);
  await open("requests");
  await page.click("text=Live");
  await page.waitForSelector(`a[href$="${id}"]`);
  assertMatch(await titleAt(page, ".row-link time") ?? "", / UTC$/);
  await open("accounts");
  const created = "td:not(:first-child) time";
  assertMatch(await titleAt(page, created) ?? "", / UTC$/);
  const [tab] = await Promise.all([
    context.waitForEvent("page"),
    page.locator(created).first().click({ modifiers: ["Control"] }),
  ]);
  await tab.waitForURL("**/console/accounts/demo");
  await tab.close();
  await page.locator(created).first().click();
  await page.getByRole("heading", { name: "demo" }).waitFor();
});

stageTest("a search that is answered in parts goes on to the end of the log", async (stage) => {
  const { page, chat, open, signIn, gateway } = stage;
  const id = await chat("sandbox/chat-1");
  await signIn(gateway.adminKey);
  await open("requests");
  await page.click("text=Live");
  await page.waitForSelector(`a[href$="${id}"]`);
  const asked: (string | null)[] = [];
  await page.route(/api\/admin\/v1\/requests\?/, async (route) => {
    const after = new URL(route.request().url()).searchParams.get("after");
    asked.push(after);
    if (after === null) return await route.fulfill({ json: { data: [], next: "9000000000000001" } });
    if (after === "9000000000000001") return await route.fulfill({ json: { data: [], next: "9000000000000000" } });
    await route.continue();
  });
  await open("requests?kind=text");
  await page.waitForSelector(`a[href$="${id}"]`);
  assertEquals(asked, [null, "9000000000000001", "9000000000000000"]);
  assertEquals(await page.locator("button.more").count(), 0);
  await open("requests?kind=none");
  await page.getByText("No request matches").waitFor();
  assertEquals(await page.getByText("Searching older requests").count(), 0);
});

stageTest("captured bodies are shown to owners as text, and are in the command line", async (stage) => {
  const { page, open, signIn, gateway } = stage;
  const headers = { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" };
  const account = `${gateway.address}/admin/v1/accounts/demo`;
  await (await fetch(account, { method: "PATCH", headers, body: '{"capture":"all"}' })).text();
  const sent = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: MARKUP }] }),
  });
  await sent.text();
  const id = sent.headers.get("x-service-request-id");
  await signIn(gateway.adminKey);
  await open("requests");
  await page.click("text=Live");
  await page.click(`a[href$="${id}"]`);
  await page.click("text=Show bodies");
  await page.locator("pre", { hasText: "You said: <img" }).waitFor();
  await page.locator("pre", { hasText: "--data-raw" }).filter({ hasText: "<img src=x" }).waitFor();
  assertEquals(await page.locator("main img").count(), 0);
  await page.getByRole("heading", { name: "Bodies" }).scrollIntoViewIfNeeded();
  await checkShown(stage, "requests-bodies");
}, { config: CAPTURE });

stageTest("a provider is tested, and the result has no credential", async ({ gateway, page, open, signIn }) => {
  await signIn(gateway.adminKey);
  await open("providers");
  await page.click("[aria-label='Test sandbox-openai']");
  await page.locator(".provider-test .notice.good").waitFor();
  assertEquals((await page.locator("main").innerText()).includes("sandbox-key"), false);
});

stageTest("usage is grouped, and downloaded as CSV", async ({ gateway, page, chat, open, signIn }) => {
  await chat("sandbox/chat-1");
  await signIn(gateway.adminKey);
  await open("usage?group_by=account");
  await page.getByRole("cell", { name: "demo" }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download CSV")]);
  assertEquals(download.suggestedFilename(), "usage-by-account.csv");
  const address = await page.getByText("Download CSV").getAttribute("href");
  const text = await page.evaluate(`fetch(${JSON.stringify(address)}).then((response) => response.text())`);
  assertMatch(String(text), /^day,account,[^]*,demo,/);
});

stageTest("usage is filtered, and is by UTC day west of UTC", async (stage) => {
  const { gateway, page, context, chat, open, signIn } = stage;
  await chat("sandbox/chat-1");
  await chat("sandbox/any-1");
  const devtools = await context.newCDPSession(page);
  await devtools.send("Emulation.setTimezoneOverride", { timezoneId: "America/Los_Angeles" });
  await signIn(gateway.adminKey);
  await open("usage?days=7");
  await page.getByRole("link", { name: "sandbox/chat-1" }).click();
  const day = new Date().toISOString().slice(0, 10);
  const rows = page.getByRole("table", { name: "Usage by day" }).getByRole("row");
  await rows.filter({ hasText: day }).waitFor();
  assertEquals(await rows.count(), 2);
  assertMatch(await rows.nth(1).innerText(), /100%\s\$0\.00\s1\s/);
  assertEquals(await page.getByLabel("Model", { exact: true }).inputValue(), "sandbox/chat-1");
  const chart = page.getByRole("slider", { name: "Spend by day" });
  const shown = () => chart.getAttribute("aria-valuetext");
  assertMatch(await shown() ?? "", new RegExp(`^${day}, Cost \\$0\\.00\\d*[1-9]`));
  await chart.press("ArrowLeft");
  await page.waitForFunction("document.querySelector('.legend-time').textContent < " + JSON.stringify(day));
  assertMatch(await shown() ?? "", /^\d{4}-\d\d-\d\d, Cost \$0\.00$/);
  await chart.press("Escape");
  await page.locator(".legend-time", { hasText: day }).waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await rows.getByRole("cell", { name: "2", exact: true }).waitFor();
});

stageTest("the list of models is not cut, and the calculator has the prices that a model sets", async (stage) => {
  const { page, gateway, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("models");
  const table = page.getByRole("table", { name: "Models" });
  await table.getByText("sandbox/any-1").waitFor();
  const [width, shown] = await table.evaluate(
    '[document.querySelector(".table-scroll").scrollWidth, document.querySelector(".table-scroll").clientWidth]',
  ) as number[];
  assertEquals(width, shown);
  await table.getByText("sandbox/any-1").click();
  await page.getByText("Enter a quantity").waitFor();
  const inputs = await page.locator("input[name^=quantity-]").all();
  const names = await Promise.all(
    inputs.map(async (each) => (await each.getAttribute("name"))?.slice("quantity-".length)),
  );
  assertEquals(names, ["prompt", "completion", "input_cache_read", "input_cache_write_5m", "input_cache_write_1h"]);
});

stageTest("a suspended account is refused until it is resumed", async ({ gateway, page, chat, open, signIn }) => {
  await signIn(gateway.adminKey);
  await open("accounts/demo");
  await page.getByRole("button", { name: "Suspend" }).click();
  await page.getByText("suspended", { exact: true }).first().waitFor();
  const refused = await chat("sandbox/chat-1");
  await open("requests?status=error");
  await page.click("text=Live");
  await page.waitForSelector(`a[href$="${refused}"]`);
  await open("accounts/demo");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("active", { exact: true }).first().waitFor();
});

let videos: VideoGateway | null = null;

stageTest("a delivery is shown with its attempts and its request, and delivered again", async (stage) => {
  const { page, open, signIn } = stage;
  if (videos === null) throw new Error("No gateway was started");
  const { create, call, adminKey } = videos;
  const owner = { authorization: `Bearer ${adminKey}` };
  const receiver = await call("POST", "/admin/v1/webhook-receivers", { account: "demo", minutes: 5 }, owner);
  assertEquals(receiver.status, 201, receiver.text);
  const id = await create({ callback_url: receiver.json.url });
  await signIn(adminKey);
  await open("webhooks");
  await page.click(`a[href$="${id}"]`);
  await page.getByText("delivered", { exact: true }).waitFor();
  await page.getByRole("cell", { name: "200" }).waitFor();
  await page.click("text=Show the request");
  assertStringIncludes(await page.locator("pre").first().innerText(), "webhook-signature: v1,");
  await page.getByRole("button", { name: "Redeliver", exact: true }).click();
  await page.getByText("Redelivery has started.").waitFor();
  await page.getByRole("cell", { name: "200" }).nth(1).waitFor();
  await checkShown(stage, "webhooks-delivery");
  await checkPage(stage, "webhooks", "webhooks");
  await checkPage(stage, "videos", "videos");
}, { start: async () => videos = await startVideoGateway({ config: { request_log: { enabled: true } } }) });

endBrowser();
