import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { AxeResults } from "axe-core";
import type { BrowserContext, Page } from "playwright-core";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { type RunningBrowser, startChromium } from "./chromium.ts";

/** Set by `deno task test:console`, because the tests may install a browser. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_CONSOLE");
/** Where pictures of the pages are written; none are without it. */
const pictures = Deno.env.get("SWITCHYARD_WRITE_PICTURES");
const options = { ignore: !isWanted, sanitizeOps: false, sanitizeResources: false };

/** The pages for operators, by their paths. `{id}` is the id of a request. */
const PAGES = [
  "overview",
  "requests",
  "requests/{id}",
  "usage",
  "accounts",
  "accounts/demo",
  "models",
  "providers",
  "audit",
  "videos",
  "webhooks",
];
/** The pages for callers. */
const CALLER_PAGES = ["account", "requests", "usage", "models"];
const LOOKS = [
  { colorScheme: "light", width: 1_280, height: 860, name: "light" },
  { colorScheme: "dark", width: 1_280, height: 860, name: "dark" },
  { colorScheme: "light", width: 360, height: 740, name: "light-narrow" },
  { colorScheme: "dark", width: 360, height: 740, name: "dark-narrow" },
] as const;
const MARKUP = '<img src=x onerror="document.title=1">';

/** A gateway with some requests, and a window of a browser in which nothing may go wrong. */
interface Stage {
  readonly gateway: TestGateway;
  readonly page: Page;
  readonly context: BrowserContext;
  /** Shows a page of the console. */
  open(path: string): Promise<void>;
  /** Sends a chat request, and returns the id of the request. */
  chat(model: string, key?: string): Promise<string>;
  signIn(key: string): Promise<void>;
}

let running: Promise<RunningBrowser> | null = null;

function stageTest(name: string, test: (stage: Stage) => Promise<void>): void {
  Deno.test(`console in a browser: ${name}`, options, async () => {
    const gateway = await startTestGateway({ config: { request_log: { enabled: true } } });
    const { browser } = await (running ??= startChromium());
    const context = await browser.newContext({ viewport: { width: 1_280, height: 860 } });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("dialog", (dialog) => void dialog.accept());
    page.on("console", (message) => {
      // A refused request is shown by the page, and also noted by the browser.
      if (message.type() === "error" && !message.text().includes("status of 4")) problems.push(message.text());
    });
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== "data:" && origin !== gateway.address) problems.push(`request to ${request.url()}`);
    });
    try {
      await test(stageOf(gateway, page, context));
      assertEquals(problems, []);
    } finally {
      await context.close();
      await gateway.stop();
    }
  });
}

function stageOf(gateway: TestGateway, page: Page, context: BrowserContext): Stage {
  const open = async (path: string) => {
    await page.goto(`${gateway.address}/console/${path}`);
    await page.waitForSelector("h1");
  };
  return {
    gateway,
    page,
    context,
    open,
    async chat(model, key = gateway.key) {
      const response = await fetch(`${gateway.address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "Say hello" }] }),
      });
      await response.body?.cancel();
      return response.headers.get("x-service-request-id") ?? "";
    },
    async signIn(key) {
      await open("");
      await page.fill("input[name=key]", key);
      await page.keyboard.press("Enter");
      await page.waitForSelector(".side");
    },
  };
}

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
  for (const path of CALLER_PAGES) await checkPage(stage, path, `caller-${path}`);
});

async function checkPage({ page, open }: Stage, path: string, name: string): Promise<void> {
  for (const { colorScheme, width, height, name: look } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await open(path);
    await page.waitForSelector(".loading", { state: "detached" });
    assertEquals(await page.locator("[role=alert]").count(), 0, `${path}: an error is shown`);
    const widest = await page.evaluate("document.documentElement.scrollWidth");
    assert(Number(widest) <= width, `${path} is ${widest} pixels wide, in a window of ${width}`);
    assertEquals(await faultsOf(page), [], `${path}, ${look}`);
    if (pictures !== undefined) {
      await page.screenshot({ path: `${pictures}/${name.replaceAll("/", "-")}-${look}.png` });
    }
  }
}

/** Serious faults of accessibility. */
async function faultsOf(page: Page): Promise<string[]> {
  const { default: axe } = await import("axe-core");
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate("axe.run()") as AxeResults;
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

stageTest(
  "a wrong key is refused with the id of the request, and the right one signs in",
  async ({ gateway, page, open, signIn }) => {
    await open("");
    await page.fill("input[name=key]", "sk-wrong-key");
    await page.click("button[type=submit]");
    const notice = page.locator("[role=alert]");
    await notice.waitFor();
    assertStringIncludes(await notice.innerText(), "invalid");
    assertStringIncludes(await notice.innerText(), "req_");
    await signIn(gateway.adminKey);
    assertEquals(await page.locator("h1").innerText(), "Overview");
  },
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
  await open("accounts/demo");
  await page.fill("input[name=name]", "tests");
  await page.fill("input[name=rpm]", "1");
  await page.click("text=Create key");
  const secret = await page.locator(".secret code").innerText();
  await chat("sandbox/chat-1", secret);
  const refused = await chat("sandbox/chat-1", secret);
  await open("requests?code=rate_limited");
  await page.click("text=Live");
  await page.click(`a[href$="${refused}"]`);
  await page.getByText("It was refused by the limit rpm of its key").waitFor();
  await open("accounts/demo");
  await page.click(`[aria-label^="Revoke the key ${secret.slice(0, 12)}"]`);
  await page.getByText("revoked", { exact: true }).waitFor();
});

stageTest("the live view shows a request when it has ended", async ({ gateway, page, open, chat, signIn }) => {
  await signIn(gateway.adminKey);
  await open("requests");
  await page.click("text=Live");
  const id = await chat("sandbox/any-1");
  await page.waitForSelector(`a[href$="${id}"]`);
});

stageTest("a session that has ended leads to the sign-in page", async ({ gateway, page, context, signIn }) => {
  await signIn(gateway.adminKey);
  await context.clearCookies();
  await page.getByText("Your session has ended").waitFor();
});

Deno.test("console in a browser: it ends", options, async () => {
  await (await running)?.stop();
});
