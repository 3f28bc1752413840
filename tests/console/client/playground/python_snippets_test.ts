import { assert, assertArrayIncludes } from "@std/assert";
import { PROTOCOL_NAMES, PROTOCOLS } from "../../../../src/console/client/pages/playground/protocols/all.ts";
import { imageSnippet } from "../../../../src/console/client/pages/playground/pictures/picture_snippet.ts";
import { textSnippet } from "../../../../src/console/client/pages/playground/protocols/text_snippet.ts";
import { videoSnippet } from "../../../../src/console/client/pages/playground/videos/video_snippet.ts";
import { writeImageRequest } from "../../../../src/console/client/pages/playground/pictures/picture_request.ts";
import { PLAIN, userText } from "./text_requests.ts";
import { languageTest } from "../../../support/language_test.ts";

const ADDRESS = "https://gateway.example";
/** Everything that Python could read as more than a text. */
const TEXT = 'it\'s "quoted" \\n \\u0041 {x} %s \'\'\' """ 🚂 \u2028\nsecond line';
/** Compiles its input, and prints the texts that it contains. */
const PROGRAM = `import ast, json, sys
source = sys.stdin.buffer.read().decode()
compile(source, "snippet.py", "exec")
print(json.dumps([n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant) and isinstance(n.value, str)]))`;

/** Registers a test of a program in Python. */
function pythonTest(name: string, snippet: () => string, texts: readonly string[]): void {
  languageTest(`playground: ${name} as Python compiles, with its texts unchanged`, async () => {
    assertArrayIncludes(await textsOf(snippet()), texts);
  });
}

for (const name of PROTOCOL_NAMES) {
  const parameters = { type: "object", properties: { city: { type: "string", default: null } }, required: [] };
  const tools = [{ name: "weather", description: TEXT, parameters, mockResult: "" }];
  const settings = { ...PLAIN, system: `System: ${TEXT}`, temperature: 0.5, maxTokens: 200, tools };
  const request = PROTOCOLS[name].write(settings, [userText(TEXT)]);
  pythonTest(`the request of ${name}`, () => textSnippet("python", request, ADDRESS), [
    TEXT,
    `System: ${TEXT}`,
    "weather",
  ]);
}

const PIXEL = { kind: "media", name: "a.png", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
const ORDER = {
  model: "sandbox/image-1",
  prompt: TEXT,
  quality: "low",
  size: "1024x1024",
  count: 1,
  background: "",
  format: "png",
} as const;

pythonTest("a generated picture", () => {
  const request = writeImageRequest({ ...ORDER, use: "edit", pictures: [], mask: null });
  return imageSnippet("python", request, ADDRESS);
}, [TEXT]);

pythonTest("a changed picture", () => {
  const request = writeImageRequest({ ...ORDER, use: "edit", pictures: [PIXEL], mask: PIXEL });
  return imageSnippet("python", request, ADDRESS);
}, [TEXT, "mask.png"]);

const VIDEO = { model: "sandbox/video-1", prompt: TEXT, duration: 4, generate_audio: true };
pythonTest("a video", () => videoSnippet("python", VIDEO, ADDRESS), [TEXT]);

async function textsOf(source: string): Promise<string[]> {
  const command = new Deno.Command("python3", {
    args: ["-c", PROGRAM],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  const child = command.spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(source));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  assert(success, `${new TextDecoder().decode(stderr)}\n${source}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}
