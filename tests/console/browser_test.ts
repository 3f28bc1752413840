import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { checkPage, checkShown, endBrowser, stageTest } from "./stage.ts";

/** The pages for operators, by their paths. `{id}` is the id of a request. */
const PAGES = [
  "requests",
  "requests/{id}",
  "usage",
  "accounts",
  "accounts/demo",
  "models",
  "prices",
  "bills",
  "providers",
  "configuration",
  "configuration/providers/sandbox-openai",
  "audit",
];
/** The pages for callers. */
const CALLER_PAGES = ["account", "playground", "requests", "requests/{id}", "usage", "models"];
const MARKUP = '<img src=x onerror="document.title=1">';

stageTest("every page is accessible, fits into the window and shows no error", async (stage) => {
  const { gateway, page, chat, signIn } = stage;
  const id = await chat("sandbox/any-1");
  for (let count = 0; count < 5; count++) await chat("sandbox/chat-1");
  await chat("sandbox/unknown");
  await signIn(gateway.adminKey);
  await page.click("text=Requests");
  await page.waitForSelector(`a[href$="${id}"]`);
  for (const path of PAGES) await checkPage(stage, path.replace("{id}", id), path.replace("{id}", "request"));
  await page.click("[aria-label='Menu']");
  await page.click("[aria-label='Sign out']");
  await page.waitForSelector("input[name=key]");
  await signIn(gateway.key);
  for (const path of CALLER_PAGES) {
    await checkPage(stage, path.replace("{id}", id), `caller-${path.replace("{id}", "request")}`);
  }
});

stageTest(
  "a wrong key is refused with the id of the request, and the right one signs in",
  async ({ gateway, page, open, signIn }) => {
    await open("");
    await page.fill("input[name=key]", "sk-wrong-key");
    await page.click("button[type=submit]");
    const notice = page.locator("[role=alert]");
    await notice.waitFor();
    assertStringIncludes(await notice.innerText(), "it is unknown");
    assertStringIncludes(await notice.innerText(), "req_");
    await signIn(gateway.adminKey);
    assertEquals(await page.locator("h1").innerText(), "Overview");
  },
  { failures: [401] },
);

stageTest("the printed link signs in, and leaves the address", async ({ gateway, page }) => {
  const link = await gateway.app.createConsoleLink();
  await page.goto(link ?? "");
  await page.waitForSelector(".side");
  assertEquals(page.url(), `${gateway.address}/console`);
  assertEquals(await page.evaluate("document.cookie + JSON.stringify(localStorage)"), "{}");
});

stageTest("names and messages with markup are shown as text", async ({ gateway, page, open, chat, signIn }) => {
  await fetch(`${gateway.address}/admin/v1/accounts/demo`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: MARKUP }),
  }).then((response) => response.body?.cancel());
  const id = await chat(MARKUP);
  await signIn(gateway.adminKey);
  for (const path of ["requests", `requests/${id}`, "accounts", "accounts/demo"]) {
    await open(path);
    await page.getByText("<img").first().waitFor();
    assertEquals(await page.locator("img").count(), 0);
  }
});

stageTest("a key is created, used up, seen refused and revoked", async ({ gateway, page, open, chat, signIn }) => {
  await signIn(gateway.adminKey);
  await open("accounts/demo?form=key");
  await page.fill("input[name=name]", "tests");
  await page.fill("input[name=rpm]", "1");
  await page.click("text=Show the difference");
  await page.click("text=Create the key");
  const secret = await page.locator(".secret code").innerText();
  await chat("sandbox/chat-1", secret);
  const refused = await chat("sandbox/chat-1", secret);
  await open("requests?code=rate_limited");
  await page.click("text=Live");
  await page.click(`a[href$="${refused}"]`);
  await page.getByText("It was refused by the limit rpm of its key").waitFor();
  await page.getByRole("link", { name: /^key_/ }).click();
  await page.getByText(`${secret.slice(0, 12)}`).first().waitFor();
  await open("accounts/demo");
  await page.click(`[aria-label^="Revoke the key ${secret.slice(0, 12)}"]`);
  await page.getByText("revoked", { exact: true }).waitFor();
});

stageTest("the audit log is in sentences, which can be filtered, and Back leads to the earlier list", async (stage) => {
  const { gateway, page, open, signIn } = stage;
  const headers = { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" };
  const account = `${gateway.address}/admin/v1/accounts/demo`;
  for (let count = 1; count <= 51; count++) {
    await (await fetch(account, { method: "PATCH", headers, body: JSON.stringify({ rpm: count }) })).text();
  }
  await signIn(gateway.adminKey);
  await open("audit");
  const rows = page.getByRole("table", { name: "Changes by operators" }).getByRole("row");
  await page.getByText("set the rpm of the account demo to 51").waitFor();
  assertEquals(await rows.count(), 51);
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByText(/account demo to 1\b/).waitFor();
  const grown = await rows.count();
  assert(grown >= 52, `${grown}`);
  await page.fill("input[name=account]", "nobody");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("No change matches").waitFor();
  await page.goBack();
  await page.getByText(/account demo to 1\b/).waitFor();
  assertEquals(await rows.count(), grown);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as CSV" }).click();
  const file = await Deno.readTextFile(await (await saved).path());
  assert(file.startsWith("id,created_at,actor,"), file.slice(0, 100));
  assertEquals(file.trim().split("\r\n").length, grown);
});

stageTest("the live view shows a request when it has ended", async ({ gateway, page, open, chat, signIn }) => {
  await signIn(gateway.adminKey);
  await open("requests");
  await page.click("text=Live");
  const id = await chat("sandbox/any-1");
  await page.waitForSelector(`a[href$="${id}"]`);
});

stageTest("the overview follows the gateway by one stream", async ({ gateway, page, chat, signIn }) => {
  const reads: string[] = [];
  page.on(
    "request",
    (request) => void (/traffic(?!.*group_by)|overview\/events/.test(request.url()) && reads.push(request.url())),
  );
  await signIn(gateway.adminKey);
  await page.getByText("No request failed").waitFor();
  await chat("sandbox/unknown");
  await page.getByRole("link", { name: "model_not_found" }).waitFor();
  assertEquals(reads, [`${gateway.address}/console/api/admin/v1/overview/events?span=hour`]);
});

stageTest("the overview reads again and again while no stream can be opened", async (stage) => {
  const { gateway, page, chat, signIn } = stage;
  await page.route("**/overview/events*", (route) => route.fulfill({ status: 429, json: {} }));
  await signIn(gateway.adminKey);
  await page.getByText("No request failed").waitFor();
  await chat("sandbox/unknown");
  await page.getByRole("link", { name: "model_not_found" }).waitFor();
  assertEquals(await page.locator("[role=alert]").count(), 0);
  await page.unroute("**/overview/events*");
  await page.waitForResponse((response) => response.url().includes("/overview/events") && response.status() === 200);
}, { failures: [429] });

stageTest("the colours that were chosen stay, also at the next visit", async (stage) => {
  const { gateway, page, context, open, signIn } = stage;
  const colours = async (window = page) => {
    const [theme, scheme] = await window.evaluate(
      "[document.documentElement.dataset.theme ?? null, getComputedStyle(document.documentElement).colorScheme]",
    ) as [string | null, string];
    return { theme, scheme };
  };
  await signIn(gateway.adminKey);
  assertEquals((await colours()).theme, null);
  await page.getByRole("button", { name: "Colors of the browser; change to light" }).click();
  await page.getByRole("button", { name: "Light colors; change to dark" }).click();
  await page.getByRole("button", { name: "Dark colors; change to those of the browser" }).waitFor();
  assertEquals(await colours(), { theme: "dark", scheme: "dark" });
  await page.emulateMedia({ colorScheme: "light" });
  await open("usage");
  assertEquals(await colours(), { theme: "dark", scheme: "dark" });
  const other = await context.newPage();
  await other.goto(`${gateway.address}/console/usage`);
  await other.waitForSelector("h1");
  assertEquals(await colours(other), { theme: "dark", scheme: "dark" });
  await other.getByRole("button", { name: "Dark colors" }).click();
  await other.getByRole("button", { name: "Colors of the browser" }).waitFor();
  await open("usage");
  assertEquals((await colours()).theme, null);
});

stageTest("a session that ends elsewhere leads to the sign-in page", async ({ gateway, page, context, signIn }) => {
  await signIn(gateway.adminKey);
  await page.getByText("No request failed").waitFor();
  const other = await context.newPage();
  await other.goto(`${gateway.address}/console/audit`);
  await other.click("[aria-label='Sign out']");
  await other.waitForSelector("input[name=key]");
  await page.getByText("Your session has ended").waitFor();
}, { failures: [401] });

stageTest(
  "a request shows the others of its session with their sum, and Back leads from one to the other",
  async (stage) => {
    const { gateway, page, open, chat, signIn } = stage;
    const send = (model: string) => chat(model, gateway.key, { user: "customer-7" });
    const first = await send("sandbox/chat-1");
    const second = await send("sandbox/unknown");
    const third = await send("sandbox/any-1");
    await chat("sandbox/chat-1");
    await signIn(gateway.adminKey);
    await open("requests?session=customer-7");
    for (const id of [first, second, third]) await page.waitForSelector(`a[href$="${id}"]`);
    await open(`requests/${first}`);
    const card = page.getByRole("region", { name: "Requests of the session" });
    await card.getByText("this request").waitFor();
    assertEquals(await card.getByRole("row").count(), 4);
    assertStringIncludes(await card.locator(".stats").innerText(), "3");
    await checkPage(stage, `requests/${first}`, "requests-session");
    await page.locator(`a[href$="${third}"]`).click();
    await page.getByRole("heading", { name: third }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: first }).waitFor();
  },
);

stageTest("while the gateway is away the page says so with its age, and it is read again after that", async (stage) => {
  const { gateway, page, context, open, signIn } = stage;
  await signIn(gateway.adminKey);
  await open("providers");
  await page.getByText("sandbox-openai").waitFor();
  await context.setOffline(true);
  const notice = page.getByText("The gateway cannot be reached.");
  await notice.waitFor();
  await page.getByText(/This page shows data from \d+ s ago/).waitFor();
  await page.getByText("sandbox-openai").waitFor();
  assertEquals(await page.locator("[role=alert]").count(), 0);
  await checkShown(stage, "away");
  await page.setViewportSize({ width: 1_280, height: 860 });
  await page.getByRole("link", { name: "Models" }).click();
  await context.setOffline(false);
  await notice.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "sandbox/chat-1" }).waitFor();
}, { isAway: true });

endBrowser();
