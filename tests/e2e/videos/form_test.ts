import { assert, assertEquals } from "@std/assert";
import { startVideoGateway } from "../../support/video_gateway.ts";

const gateway = await startVideoGateway({ limits: { video_body: 600_000 } });
const PIXEL = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);
const GOOD = { model: "sandbox/video-1", prompt: "A lighthouse [[queue 0]] [[run 0]]" };

type Part = readonly [name: string, value: string | Blob];

/** Creates with a form, as HTTP libraries send it. */
async function send(parts: readonly Part[], headers: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of parts) form.append(name, value);
  return await answered(form, headers);
}

async function answered(body: BodyInit, headers: Record<string, string>) {
  const authorization = `Bearer ${gateway.key}`;
  const response = await fetch(`${gateway.address}/v1/videos`, {
    method: "POST",
    headers: { authorization, ...headers },
    body,
  });
  return { status: response.status, headers: response.headers, json: await response.json() };
}

const parts = (fields: Record<string, string | Blob>): Part[] => Object.entries({ ...GOOD, ...fields });
const picture = (bytes: Uint8Array<ArrayBuffer> = PIXEL) => new Blob([bytes], { type: "image/png" });
const lastOrder = () => gateway.created().at(-1)!.body as Record<string, unknown>;

Deno.test("POST /v1/videos accepts a form like JSON and returns the same", async () => {
  const { status, json } = await send(parts({
    seconds: "4",
    resolution: "480p",
    seed: "-1",
    real_person: "false",
    "metadata[order]": "A-1",
    "metadata[team]": "blue",
    provider: '{"type":"ark"}',
    tool: "unknown fields are passed over",
    attachment: new Blob(["whatever they hold"]),
    input_reference: picture(),
  }));
  assertEquals([status, Object.keys(json), json.status], [202, ["id", "status", "polling_url", "estimate"], "pending"]);
  const task = await gateway.until(json.id, "completed");
  assertEquals([task.metadata, task.provider], [{ order: "A-1", team: "blue" }, "ark"]);
  const { duration, resolution, content } = lastOrder();
  assertEquals([duration, resolution], [4, "480p"]);
  assertEquals((content as { role?: string }[]).flatMap(({ role }) => role ?? []), ["first_frame"]);
});

Deno.test("POST /v1/videos reads lists of a form as JSON text", async () => {
  const url = `data:image/png;base64,${PIXEL.toBase64()}`;
  const references = JSON.stringify([{ type: "image_url", image_url: { url } }]);
  const { status, json } = await send(parts({ input_references: references, "provider[type]": "ark" }));
  assertEquals(status, 202);
  await gateway.until(json.id, "completed");
  assertEquals((lastOrder().content as { role?: string }[]).flatMap(({ role }) => role ?? []), ["reference_image"]);
});

Deno.test("JSON may have the duration and the first frame as in OpenAI's clients", async () => {
  const image_url = `data:image/png;base64,${PIXEL.toBase64()}`;
  const body = { ...GOOD, seconds: "3", size: "1280x720", input_reference: { image_url } };
  const { status, json } = await gateway.call("POST", "/v1/videos", body, { "user-agent": "OpenAI/Python 2.9.0" });
  assertEquals([status, json.status, json.seconds, json.size], [202, "queued", "3", "1280x720"]);
  await gateway.until(json.id, "completed");
  assertEquals(lastOrder().duration, 3);
});

const BAD: readonly [what: string, parts: readonly Part[], status: number, named: string][] = [
  ["no model", [["prompt", "A lighthouse"]], 400, "model"],
  ["two files", [...parts({ input_reference: picture() }), ["input_reference", picture()]], 400, "input_reference"],
  [
    "a file and an object",
    parts({ input_reference: picture(), "input_reference[image_url]": "x" }),
    400,
    "input_reference",
  ],
  ["a file that is no picture", parts({ input_reference: new Blob(["text"]) }), 400, "input_reference"],
  ["an empty file", parts({ input_reference: new Blob([]) }), 400, "input_reference"],
  [
    "a file beside references",
    parts({ input_reference: picture(), frame_images: '[{"a":1}]' }),
    400,
    "input_reference",
  ],
  ["a file as prompt", [["model", GOOD.model], ["prompt", new Blob(["text"])]], 400, "prompt"],
  ["two prompts", [...parts({}), ["prompt", "Another"]], 400, "prompt"],
  ["text that is too long", parts({ prompt: "a".repeat(300_000) }), 413, "prompt"],
  ["JSON that is none", parts({ provider: "{" }), 400, "provider"],
  ["JSON and more", parts({ provider: '{},"model":"other"' }), 400, "provider"],
  ["a name twice in JSON", parts({ provider: '{"type":"ark","type":"ark-two"}' }), 400, "provider"],
  ["JSON that nests without end", parts({ frame_images: "[".repeat(100_000) }), 400, "frame_images"],
  ["members of a text", parts({ "prompt[a]": "b" }), 400, "prompt[a]"],
  ["members and JSON", parts({ metadata: '["a"]', "metadata[a]": "b" }), 400, "metadata[a]"],
  ["a length that is no number", parts({ seconds: "4s" }), 400, "seconds"],
  ["a switch that is none", parts({ generate_audio: "yes" }), 400, "generate_audio"],
];

for (const [what, sent, expected, named] of BAD) {
  Deno.test(`POST /v1/videos rejects a form with ${what} and names ${named}`, async () => {
    const { status, json } = await send(sent);
    assertEquals(status, expected);
    assert(json.error.message.includes(`"${named}"`), json.error.message);
  });
}

Deno.test("POST /v1/videos rejects a form above limits.video_body and an incomplete one", async () => {
  const large = await send(parts({ input_reference: picture(new Uint8Array(700_000)) }));
  assertEquals(large.status, 413);
  const unknown = await send(parts({ attachment: new Blob([new Uint8Array(700_000)]) }));
  assertEquals(unknown.status, 413);
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  const broken = await answered('--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nsandbox', headers);
  assertEquals([broken.status, broken.json.error.code], [400, "invalid_request"]);
  const none = await answered("--x--", { "content-type": "multipart/form-data" });
  assertEquals([none.status, none.json.error.code], [400, "invalid_request"]);
});

Deno.test("one Idempotency-Key with equal forms is one task for any boundary; another image is rejected", async () => {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const first = await send(parts({ input_reference: picture() }), headers);
  const again = await send(parts({ input_reference: picture() }).toReversed(), headers);
  assertEquals([again.status, again.json.id, again.headers.get("idempotent-replayed")], [202, first.json.id, "true"]);
  const another = new Uint8Array([...PIXEL, 0]);
  assertEquals((await send(parts({ input_reference: picture(another) }), headers)).status, 422);
});

Deno.test({
  name: "the gateway of the form tests stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});
