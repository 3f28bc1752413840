import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ADVICE = 'run "deno task lock"';

/** A lock file of Deno, as far as it is read here: packages by name, version and the versions of their peers. */
interface LockFile {
  readonly npm: Readonly<Record<string, { readonly integrity: string }>>;
}

Deno.test("src/deno.lock: holds all packages that the gateway and the console import", async () => {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--quiet", "--frozen", "--lock=src/deno.lock", "main.ts", "src/console/client/main.tsx"],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  assertEquals({ success, stderr: new TextDecoder().decode(stderr) }, { success: true, stderr: "" }, ADVICE);
});

Deno.test("src/deno.lock: has the packages of deno.lock, without those of tests", async () => {
  const [all, own] = await Promise.all([integrities("deno.lock"), integrities("src/deno.lock")]);
  const missing = [...own].filter(([name, integrity]) => all.get(name) !== integrity);
  assertEquals(missing, [], ADVICE);
  const tests = ["openai", "@anthropic-ai/sdk", "@google/genai", "ai", "playwright-core", "typescript", "fast-check"];
  const names = new Set([...own.keys()].map((name) => name.slice(0, name.lastIndexOf("@"))));
  assertEquals(tests.filter((name) => names.has(name)), [], ADVICE);
});

Deno.test("src/deno.lock: every task that starts the gateway uses it, so that no package of tests is downloaded", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`));
  const commands: string[] = Object.values<{ command: string }>(tasks).map(({ command }) => command);
  const starts = commands.filter((command) => command.includes(" main.ts") && command.startsWith("deno run"));
  assertEquals(starts.length, 3);
  assertEquals(starts.filter((command) => !command.includes("--lock=src/deno.lock --frozen")), []);
});

async function integrities(file: string): Promise<Map<string, string>> {
  const lock: LockFile = JSON.parse(await Deno.readTextFile(`${ROOT}/${file}`));
  return new Map(Object.entries(lock.npm).map(([key, { integrity }]) => [withoutPeers(key), integrity]));
}

function withoutPeers(key: string): string {
  return key.replace(/_.*$/, "");
}
