import { assert, assertEquals } from "@std/assert";
import type { AxeResults } from "axe-core";
import type { BrowserContext, Page } from "playwright-core";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { overflowsOf } from "./overflows.ts";
import { PATIENCE_MS, type RunningBrowser, startChromium } from "./chromium.ts";

/** Set by `deno task test:console`, because the tests may install a browser. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_CONSOLE");
/** Where pictures of the pages are written, in the looks of the documentation; none are without it. */
const pictures = Deno.env.get("SWITCHYARD_WRITE_PICTURES");
/** Where they are written in all looks. */
const allPictures = Deno.env.get("SWITCHYARD_WRITE_ALL_PICTURES");
const options = { ignore: !isWanted, sanitizeOps: false, sanitizeResources: false };

/** Both colors at the widths of a laptop, a small one, a tablet and a phone; and the widths of large monitors. */
const LOOKS = [
  { colorScheme: "light", width: 1_280, height: 860, name: "light" },
  { colorScheme: "dark", width: 1_280, height: 860, name: "dark" },
  { colorScheme: "dark", width: 2_560, height: 1_440, name: "dark-2560" },
  { colorScheme: "light", width: 1_920, height: 1_080, name: "light-1920" },
  { colorScheme: "light", width: 1_024, height: 768, name: "light-1024" },
  { colorScheme: "dark", width: 1_024, height: 768, name: "dark-1024" },
  { colorScheme: "light", width: 768, height: 1_024, name: "light-768" },
  { colorScheme: "dark", width: 768, height: 1_024, name: "dark-768" },
  { colorScheme: "light", width: 390, height: 844, name: "light-narrow" },
  { colorScheme: "dark", width: 390, height: 844, name: "dark-narrow" },
] as const;
const DOCUMENTED: readonly string[] = ["light", "dark", "light-narrow", "dark-narrow"];

/** A gateway with some requests, and a window of a browser in which nothing may go wrong. */
export interface Stage {
  readonly gateway: StageGateway;
  readonly page: Page;
  readonly context: BrowserContext;
  /** Shows a page of the console. */
  open(path: string): Promise<void>;
  /** Sends a chat request, and returns the id of the request. */
  chat(model: string, key?: string, fields?: Readonly<Record<string, unknown>>): Promise<string>;
  signIn(key: string): Promise<void>;
}

let running: Promise<RunningBrowser> | null = null;

/** The gateway of a test. */
export type StageGateway = Pick<TestGateway, "app" | "sandbox" | "address" | "key" | "adminKey" | "stop">;

/** Options of {@linkcode stageTest}. */
export interface StageOptions {
  /** Starts the gateway. Default: one with the models of `startTestGateway`. */
  readonly start?: () => Promise<StageGateway>;
  /** Sections of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /**
   * The HTTP statuses of failures that the test provokes, and that the page shows. The browser notes them as errors
   * too. Every other error in its console fails the test. Default: none.
   */
  readonly failures?: readonly number[];
  /** Whether the network or the gateway goes away, of which the browser notes each failure. Default: false. */
  readonly isAway?: boolean;
}

/** A test in a window of its own, with a gateway of its own. It fails for each error in the browser's console. */
export function stageTest(
  name: string,
  test: (stage: Stage) => Promise<void>,
  { config = {}, start, failures = [], isAway = false }: StageOptions = {},
): void {
  Deno.test(`console in a browser: ${name}`, options, async () => {
    const defaults = { isLive: true, config: { request_log: { enabled: true }, ...config } };
    const gateway: StageGateway = await (start?.() ?? startTestGateway(defaults));
    const { browser } = await (running ??= startChromium());
    const context = await browser.newContext({ viewport: { width: 1_280, height: 860 } });
    context.setDefaultTimeout(PATIENCE_MS);
    context.setDefaultNavigationTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("dialog", (dialog) => void dialog.accept());
    page.on("console", (message) => {
      if (isAway && /ERR_(INTERNET_DISCONNECTED|CONNECTION_\w+|EMPTY_RESPONSE)/.test(message.text())) return;
      const status = Number(/status of (\d+)/.exec(message.text())?.[1]);
      if (message.type() === "error" && !failures.includes(status)) problems.push(message.text());
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

function stageOf(gateway: StageGateway, page: Page, context: BrowserContext): Stage {
  const open = async (path: string) => {
    await page.goto(`${gateway.address}/console/${path}`);
    await page.waitForSelector("h1");
  };
  return {
    gateway,
    page,
    context,
    open,
    async chat(model, key = gateway.key, fields = {}) {
      const response = await fetch(`${gateway.address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "Say hello" }], ...fields }),
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

/**
 * Replaces the text of a field for JSON: of its editor, or of the plain text before that is loaded. The editor gets it
 * pasted: when highlighted text is typed over, the browser keeps its look with an inline style, which the policy of
 * the page blocks, and reports that in its console.
 */
export async function fillJson(page: Page, name: string, text: string): Promise<void> {
  const field = page.getByRole("textbox", { name }).first();
  await field.press("ControlOrMeta+a");
  const isPlain = await page.evaluate(`(() => {
    let focused = document.activeElement;
    while (focused.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", ${JSON.stringify(text)});
    return focused.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  })()`);
  if (isPlain) await field.fill(text);
}

/** The title that the browser shows while the pointer is at the middle of an element; null for none. */
export async function titleAt(page: Page, selector: string): Promise<string | null> {
  await page.locator(selector).first().waitFor();
  return await page.evaluate(`(() => {
    const { x, y, width, height } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
    const found = document.elementFromPoint(x + width / 2, y + height / 2);
    return found?.closest("[title]")?.title ?? null;
  })()`) as string | null;
}

/** Looks for errors, faults of accessibility and overflow in both colors and all widths, and takes pictures. */
export async function checkPage(stage: Stage, path: string, name: string): Promise<void> {
  for (const look of LOOKS) {
    await setLook(stage, look);
    await stage.open(path);
    await checkLook(stage, name, look);
  }
}

/** The same for what a page shows now. */
export async function checkShown(stage: Stage, name: string): Promise<void> {
  for (const look of LOOKS) {
    await setLook(stage, look);
    await checkLook(stage, name, look);
  }
}

type Look = (typeof LOOKS)[number];

async function setLook({ page }: Stage, { colorScheme, width, height }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.mouse.move(0, 0); // nothing looks as if it were pointed at
  await page.setViewportSize({ width, height });
}

async function checkLook({ page }: Stage, name: string, { width, name: look }: Look): Promise<void> {
  await page.waitForSelector(".loading", { state: "detached" });
  // A chart gets its new width after the frame that has changed that of its card.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  assertEquals(await page.locator("[role=alert]").count(), 0, `${name}: an error is shown`);
  const widest = await page.evaluate("document.documentElement.scrollWidth");
  assert(Number(widest) <= width, `${name} is ${widest} pixels wide, in a window of ${width}`);
  assertEquals(await overflowsOf(page), [], `${name}, ${look}: elements are wider than what holds them`);
  assertEquals(await faultsOf(page), [], `${name}, ${look}`);
  const folders = [DOCUMENTED.includes(look) ? pictures : undefined, allPictures];
  for (const folder of folders.filter((each) => each !== undefined)) {
    await page.screenshot({ path: `${folder}/${name.replaceAll("/", "-")}-${look}.png` });
  }
}

/** Faults of accessibility, also those that are not serious. */
async function faultsOf(page: Page): Promise<string[]> {
  const { default: axe } = await import("axe-core");
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate("axe.run()") as AxeResults;
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

/** The last test of a file: closes its browser. */
export function endBrowser(): void {
  Deno.test("console in a browser: it ends", options, async () => {
    await (await running)?.stop();
  });
}
