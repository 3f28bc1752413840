import type { Browser } from "playwright-core";

/** A running Chromium. */
export interface RunningBrowser {
  readonly browser: Browser;
  stop(): Promise<void>;
}

/** How long a step of a browser may take, on a machine that does much else. */
export const PATIENCE_MS = 180_000;

/** Without them, Chromium connects to hosts of its vendor. */
const OFFLINE = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-quic",
  "--disable-sync",
  "--no-first-run",
];

/** Starts Chromium without a window. If there is none, it installs Debian's package, with rights and a network. */
export async function startChromium(): Promise<RunningBrowser> {
  const program = await installedChromium() ?? await installChromium();
  const folder = await Deno.makeTempDir();
  const args = ["--headless", "--no-sandbox", "--disable-gpu", ...OFFLINE];
  const child = new Deno.Command(program, {
    args: [...args, "--remote-debugging-port=0", `--user-data-dir=${folder}`],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const { address, ended } = await debuggingAddressOf(child);
  // Loading it needs more permissions than other tests have.
  const { chromium } = await import("playwright-core");
  const browser = await chromium.connectOverCDP(address, { timeout: PATIENCE_MS });
  return {
    browser,
    async stop() {
      await browser.close();
      child.kill();
      await child.status;
      await ended;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** The address that Chromium prints, and the end of what it prints. */
async function debuggingAddressOf(child: Deno.ChildProcess): Promise<{ address: string; ended: Promise<void> }> {
  const lines = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  for (let read = await lines.read(); !read.done; read = await lines.read()) {
    printed += read.value;
    const address = /ws:\/\/\S+/.exec(printed)?.[0];
    if (address !== undefined) return { address, ended: discard(lines) };
  }
  throw new Error(`Chromium did not start: ${printed}`);
}

async function discard(lines: ReadableStreamDefaultReader<string>): Promise<void> {
  while (!(await lines.read()).done);
}

async function installedChromium(): Promise<string | null> {
  for (const program of ["chromium", "google-chrome"]) {
    if (await run(program, "--version").then(() => true, () => false)) return program;
  }
  return null;
}

async function installChromium(): Promise<string> {
  try {
    await run("apt-get", "update");
    await run("apt-get", "install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core");
  } catch (error) {
    throw new Error(`Chromium is not installed, and Debian's package cannot be: ${(error as Error).message}`);
  }
  return "chromium";
}

async function run(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args, stdout: "null", stderr: "piped" }).output();
  if (!success) throw new Error(`${program} ${args.join(" ")} failed: ${new TextDecoder().decode(stderr).trim()}`);
}
