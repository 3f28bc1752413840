import { assert, assertEquals } from "@std/assert";
import { PROTOCOL_NAMES, PROTOCOLS } from "../../../../src/console/client/pages/playground/protocols/all.ts";
import { pythonLiteral, typescriptLiteral } from "../../../../src/console/client/pages/playground/snippets/literals.ts";
import { withShortData } from "../../../../src/console/client/pages/playground/snippets/short_data.ts";
import type { Language } from "../../../../src/console/client/pages/playground/snippets/snippet.ts";
import { textSnippet } from "../../../../src/console/client/pages/playground/snippets/text_snippet.ts";
import { startTestGateway, type TestGateway } from "../../../support/gateway.ts";
import { PLAIN, userText } from "./text_requests.ts";

/** Everything that a shell, Python or TypeScript could read as more than a text. */
const TEXT = 'it\'s `id` $(id) ${1} \\n "quoted" 🚂 \u2028 </script>\nJSON\nsecond line';
const SETTINGS = {
  ...PLAIN,
  system: "It's brief",
  temperature: 0.5,
  maxTokens: 200,
  tools: [{
    name: "weather",
    description: "The weather",
    parameters: { type: "object", properties: { city: { type: "string", default: null } } },
    mockResult: "",
  }],
};

for (const name of PROTOCOL_NAMES) {
  const request = PROTOCOLS[name].write(SETTINGS, [userText(TEXT)]);

  Deno.test(`playground: the request of ${name} as curl sends the same request`, async () => {
    const gateway = await startTestGateway();
    const printed = await run("bash", ["-c", textSnippet("curl", request, gateway.address)], gateway);
    assert(printed.includes("said:"), printed);
    assertEquals(await promptSeen(gateway), TEXT);
    await gateway.stop();
  });

  Deno.test(`playground: the request of ${name} as TypeScript runs with the official client`, async () => {
    const gateway = await startTestGateway();
    const file = await Deno.makeTempFile({ suffix: ".ts" });
    await Deno.writeTextFile(file, textSnippet("typescript", request, gateway.address));
    const config = new URL("../../../../deno.json", import.meta.url).pathname;
    const printed = await run(Deno.execPath(), ["run", "-A", "--quiet", "--config", config, file], gateway);
    assertEquals(printed.replaceAll(/\s+/g, " "), `You said: ${TEXT}`.replaceAll(/\s+/g, " "));
    assertEquals(await promptSeen(gateway), TEXT);
    await Deno.remove(file);
    await gateway.stop();
  });

  Deno.test(`playground: no snippet of ${name} contains a key`, () => {
    for (const language of ["curl", "python", "typescript"] as Language[]) {
      const text = textSnippet(language, request, "https://gateway.example");
      assert(text.includes("SWITCHYARD_API_KEY") && !text.includes("sk-sy-"), text);
    }
  });
}

/** Runs a program with the key in its environment, and returns what it prints. */
async function run(program: string, args: string[], { key }: TestGateway): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, env: { SWITCHYARD_API_KEY: key } })
    .output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** The text of the prompt that the vendor got. */
function promptSeen({ sandbox }: TestGateway): string {
  const body = sandbox.requests.at(-1)?.body as Record<string, unknown>;
  const found: string[] = [];
  JSON.stringify(body, (_name, value) => {
    if (typeof value === "string" && value.startsWith("it's")) found.push(value);
    return value;
  });
  return found.join();
}

Deno.test("playground: literals have the values of JSON in Python and in TypeScript", () => {
  const value = { a: [true, false, null, 1.5], "b-c": { "it's": TEXT }, empty: {}, none: [] };
  assertEquals(new Function(`return ${typescriptLiteral(value)}`)(), value);
  assertEquals(pythonLiteral([true, false, null]), "[True, False, None]");
  assertEquals(pythonLiteral({ a: "x" }), '{"a": "x"}');
  const poisoned = JSON.parse('{"__proto__": {"a": 1}}');
  assertEquals(Object.keys(new Function(`return ${typescriptLiteral(poisoned)}`)()), ["__proto__"]);
});

Deno.test("playground: long data is shortened where it is shown", () => {
  const data = "A".repeat(1_000);
  assertEquals(withShortData(`data:image/png;base64,${data}"`), `data:image/png;base64,${"A".repeat(40)}…"`);
  assertEquals(withShortData(TEXT), TEXT);
});
