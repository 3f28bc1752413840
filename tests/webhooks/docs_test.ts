import { assertEquals, assertThrows } from "@std/assert";
import { newWebhookSecret } from "../../src/money/billing/accounts/webhook_secret.ts";
import { signedHeaders } from "../../src/services/webhooks/signature.ts";
import { atLeast, itemAt, valueAt } from "../support/items.ts";
import { languageTest } from "../support/language_test.ts";

const page = await Deno.readTextFile(new URL("../../docs/webhooks.md", import.meta.url));
const rawBody = '{"event":"video.generation.completed","prompt":"☾ \\u0001"}';
const secret = newWebhookSecret();
const headers = signedHeaders({
  idempotencyKey: "0b5f3f5e-2f36-4d0a-9d56-0d8a4e6f7a11-completed",
  body: new TextEncoder().encode(rawBody),
  sentAt: Date.now(),
}, [secret]);
const signature = valueAt(headers, "x-service-signature");

/** Input and expected result of each verification. */
const CASES: readonly [body: string, signature: string, secret: string, isGenuine: boolean][] = [
  [rawBody, signature, secret, true],
  [rawBody + " ", signature, secret, false],
  [rawBody, signature.slice(0, -2), secret, false],
  [rawBody, "", secret, false],
  [rawBody, signature, newWebhookSecret(), false],
];
const EXPECTED = CASES.map(([, , , isGenuine]) => isGenuine);

/** Returns the page's code blocks in a language. */
function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map((match) => itemAt(match, 1));
}

/** Runs a program in its own folder and returns its output, parsed as JSON. */
async function outputOf(files: Record<string, string>, command: readonly string[]): Promise<unknown> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
    const [program, ...args] = atLeast(command, 1);
    const { code, stdout, stderr } = await new Deno.Command(program, { args, cwd: folder }).output();
    if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
    return JSON.parse(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the documented verification in TypeScript accepts only genuine events", async () => {
  const [code] = blocks("ts");
  const run = `${code}
    const cases = ${JSON.stringify(CASES)};
    console.log(JSON.stringify(cases.map(([body, signature, secret]) =>
      isFromSwitchyard(new TextEncoder().encode(body as string), signature as string, secret as string))));`;
  assertEquals(await outputOf({ "verify.ts": run }, [Deno.execPath(), "run", "--quiet", "verify.ts"]), EXPECTED);
});

Deno.test("the documented verification with the Standard Webhooks library returns genuine events and throws for others", async () => {
  const [, code] = atLeast(blocks("ts"), 2);
  const module = `data:application/typescript,${encodeURIComponent(code.replace('"standardwebhooks"', library()))}`;
  const { readEvent } = await import(module);
  assertEquals(readEvent(rawBody, headers, secret), JSON.parse(rawBody));
  assertThrows(() => readEvent(`${rawBody} `, headers, secret));
});

languageTest("the documented verification in Python accepts only genuine events", async () => {
  const [code] = blocks("python");
  const run = `${code}
import json
cases = json.loads(${JSON.stringify(JSON.stringify(CASES))})
print(json.dumps([is_from_switchyard(body.encode(), signature, secret) for body, signature, secret, _ in cases]))`;
  assertEquals(await outputOf({ "verify.py": run }, ["python3", "verify.py"]), EXPECTED);
});

languageTest("the documented verification in Go accepts only genuine events", async () => {
  const code = itemAt(blocks("go"), 0);
  const calls = CASES.map(([body, signature, secret]) =>
    `say(IsFromSwitchyard([]byte(${JSON.stringify(body)}), ${JSON.stringify(signature)}, ${JSON.stringify(secret)}))`
  );
  // Only the packages of the page: with a cold cache each one is compiled first.
  const run = `package main
import "os"
func say(isGenuine bool) { if isGenuine { os.Stdout.WriteString("true") } else { os.Stdout.WriteString("false") } }
func main() { os.Stdout.WriteString("["); ${
    calls.join('; os.Stdout.WriteString(","); ')
  }; os.Stdout.WriteString("]") }`;
  const files = { "verify.go": code.replace("package webhook", "package main"), "main.go": run };
  assertEquals(await outputOf(files, ["go", "run", "verify.go", "main.go"]), EXPECTED);
});

/** Returns the library as a module outside this project resolves it. */
function library(): string {
  return JSON.stringify(import.meta.resolve("standardwebhooks"));
}
