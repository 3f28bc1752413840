import { assert, assertEquals } from "@std/assert";
import { PROTOCOL_NAMES, PROTOCOLS } from "../../../../src/console/client/pages/playground/protocols/all.ts";
import { pythonLiteral, typescriptLiteral } from "../../../../src/console/client/pages/playground/snippets/literals.ts";
import { withShortData } from "../../../../src/console/client/pages/playground/snippets/short_data.ts";
import type { Language } from "../../../../src/console/client/pages/playground/snippets/snippet.ts";
import { textSnippet } from "../../../../src/console/client/pages/playground/protocols/text_snippet.ts";
import type { Media } from "../../../../src/console/client/pages/playground/conversation.ts";
import {
  type ImageDraft,
  imagesInReply,
  writeImageRequest,
} from "../../../../src/console/client/pages/playground/pictures/picture_request.ts";
import { imageSnippet } from "../../../../src/console/client/pages/playground/pictures/picture_snippet.ts";
import { videoSnippet } from "../../../../src/console/client/pages/playground/videos/video_snippet.ts";
import { mediaConfig } from "../../media_models.ts";
import { startTestGateway, type TestGateway } from "../../../support/gateway.ts";
import { itemAt } from "../../../support/items.ts";
import { LOCK_OF_TESTS, withPackagesOfTests } from "../../../support/packages.ts";
import { PLAIN, userText } from "./text_requests.ts";

const CONFIG = new URL("../../../../deno.json", import.meta.url).pathname;
const OPTIONS = ["--quiet", "--config", CONFIG, "--lock", LOCK_OF_TESTS];
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
    const folder = await Deno.makeTempDir();
    const printed = await runTypeScript(textSnippet("typescript", request, gateway.address), gateway, folder);
    assertEquals(printed.replaceAll(/\s+/g, " "), `You said: ${TEXT}`.replaceAll(/\s+/g, " "));
    assertEquals(await promptSeen(gateway), TEXT);
    await Deno.remove(folder, { recursive: true });
    await gateway.stop();
  });

  Deno.test(`playground: no snippet of ${name} contains a key`, () => {
    for (const language of ["curl", "python", "typescript"] as Language[]) {
      const text = textSnippet(language, request, "https://gateway.example");
      assert(text.includes("SWITCHYARD_KEY") && !text.includes("sk-sy-"), text);
    }
  });
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const ORDER: ImageDraft = {
  model: "sandbox/image-1",
  prompt: TEXT,
  quality: "low",
  size: "1024x1024",
  count: 1,
  background: "",
  format: "png",
  use: "edit",
  pictures: [],
  mask: null,
};
const IMAGE: Media = { kind: "media", name: "a.png", mediaType: "image/png", data: PIXEL };
const IMAGES = { "a generation": [], "an edit with a mask": [IMAGE] };

for (const [name, pictures] of Object.entries(IMAGES)) {
  Deno.test(`playground: ${name} as curl and as TypeScript makes the picture`, async () => {
    const folder = await Deno.makeTempDir();
    const gateway = await startTestGateway({ config: mediaConfig(folder) });
    const request = writeImageRequest({ ...ORDER, pictures, mask: pictures[0] ?? null });
    for (const { name: file } of request.files) {
      await Deno.writeFile(`${folder}/${file}`, Uint8Array.fromBase64(PIXEL));
    }
    const printed = await run("bash", ["-c", imageSnippet("curl", request, gateway.address)], gateway, folder);
    assertEquals(imagesInReply(JSON.parse(printed)).pictures[0]?.mediaType, "image/png", printed);
    assertEquals(promptSeen(gateway), TEXT);
    await runTypeScript(imageSnippet("typescript", request, gateway.address), gateway, folder);
    assertEquals([...(await Deno.readFile(`${folder}/result-1`)).subarray(1, 4)], [0x50, 0x4e, 0x47]);
    assertEquals(promptSeen(gateway), TEXT);
    assert(imageSnippet("python", request, gateway.address).includes("client.images."));
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("playground: a model of pictures in the protocol of Google as TypeScript makes the picture", async () => {
  const folder = await Deno.makeTempDir();
  const gateway = await startTestGateway({ config: mediaConfig(folder) });
  const settings = { ...PLAIN, model: "sandbox/image-multimodal-1", makesImages: true };
  const request = PROTOCOLS.content.write(settings, [userText("A lighthouse")]);
  await runTypeScript(textSnippet("typescript", request, gateway.address), gateway, folder);
  assert((await Deno.readFile(`${folder}/result-2`)).length > 100);
  await gateway.stop();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("playground: a video as curl and as TypeScript is created and polled", async () => {
  const folder = await Deno.makeTempDir();
  const gateway = await startTestGateway({ config: mediaConfig(folder) });
  const body = { model: "sandbox/video-1", prompt: TEXT, duration: 4 };
  const printed = await run("bash", ["-c", videoSnippet("curl", body, gateway.address)], gateway);
  assert(printed.includes("event: video.generation.completed"), printed);
  const completed = await runTypeScript(videoSnippet("typescript", body, gateway.address), gateway, folder);
  assert(completed.startsWith("completed ["));
  assert(videoSnippet("python", body, gateway.address).includes('client.post("/videos"'));
  await gateway.stop();
  await Deno.remove(folder, { recursive: true });
});

/** The programs in TypeScript that the tests ran. A later test checks their types at once, since that takes seconds. */
const programs: string[] = [];

/** Runs a program in a folder, with the official clients of the tests. Returns what it prints. */
async function runTypeScript(snippet: string, gateway: TestGateway, folder: string): Promise<string> {
  const program = withPackagesOfTests(snippet);
  programs.push(program);
  await Deno.writeTextFile(`${folder}/program.ts`, program);
  return await run(Deno.execPath(), ["run", "-A", "--no-check", ...OPTIONS, "program.ts"], gateway, folder);
}

Deno.test("playground: the types of every program in TypeScript are correct", async () => {
  const folder = await Deno.makeTempDir();
  const files = programs.map((_, index) => `${folder}/program_${index}.ts`);
  for (const [index, program] of programs.entries()) await Deno.writeTextFile(itemAt(files, index), program);
  assert(files.length >= PROTOCOL_NAMES.length + 4, `${files.length} programs`);
  await run(Deno.execPath(), ["check", ...OPTIONS, ...files], { key: "" }, folder);
  await Deno.remove(folder, { recursive: true });
});

/** Runs a program with the key in its environment, and returns what it prints. */
async function run(program: string, args: string[], { key }: Pick<TestGateway, "key">, cwd = "."): Promise<string> {
  const command = new Deno.Command(program, { args, cwd, env: { SWITCHYARD_KEY: key } });
  const { success, stdout, stderr } = await command.output();
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
