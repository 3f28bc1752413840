import { assertEquals } from "@std/assert";
import { type CodeBlock, placeOf, readCodeBlocks } from "./code_blocks.ts";
import { startDevStage } from "./dev_stage.ts";
import { isProgram, runModule, shownValuesOf } from "./programs.ts";
import { languageTest } from "../../support/language_test.ts";

const blocks = await readCodeBlocks();
const isSample = (language: string) => (block: CodeBlock) => isProgram(block) && block.language === language;

Deno.test("documentation: programs in TypeScript print and get what their comments show", async () => {
  const stage = await startDevStage();
  const { address, variables: { SWITCHYARD_KEY: key = "" } } = stage;
  const wait = `await (await fetch("${address}/v1/videos/" + job.id + "/events", ` +
    `{ headers: { authorization: "Bearer ${key}" } })).text();`;
  try {
    for (const block of blocks.filter(isSample("ts"))) {
      const { values, printed } = await runModule(block, { address, key, wait });
      const [shown = ""] = shownValuesOf(block);
      const { status, usage } = values as { status?: string; usage?: { cost?: number } };
      const got = status === undefined ? printed : `"${status}", { cost: ${usage?.cost} }`;
      assertEquals(got, shown, placeOf(block));
    }
  } finally {
    await stage.stop();
  }
});

languageTest("documentation: programs in Python compile", async () => {
  const samples = blocks.filter(({ language }) => language === "python");
  const script =
    "import json, sys\nfor place, text in json.load(sys.stdin): compile(text.replace('…', 'etc=1'), place, 'exec')";
  const child = new Deno.Command("python3", { args: ["-c", script], stdin: "piped", stdout: "null", stderr: "piped" })
    .spawn();
  const input = new Blob([JSON.stringify(samples.map((block) => [placeOf(block), block.text]))]);
  await input.stream().pipeTo(child.stdin);
  const { success, stderr } = await child.output();
  assertEquals([success, new TextDecoder().decode(stderr)], [true, ""]);
});
