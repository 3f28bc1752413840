import { assertEquals, assertMatch } from "@std/assert";
import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import type { JsonObject } from "../../../src/platform/lib/json/json_object.ts";
import { startVideoGateway, VALID_BODY, type VideoGateway } from "../../support/video_gateway.ts";

const DRY = { "x-service-dry-run": "true" };
const PIXEL = "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const gateway = await startVideoGateway({ balance: "1.00" });
const { call, until } = gateway;
const dry = (fields: JsonObject = {}, headers = {}) =>
  call("POST", "/v1/videos", { ...VALID_BODY, ...fields }, { ...DRY, ...headers });

/** Returns all traces of a create. */
async function traces({ call, created, money, filesFolder }: VideoGateway) {
  const { json } = await call("GET", "/v1/videos");
  const files = [...Deno.readDirSync(filesFolder)].filter(({ name }) => name.includes("-in-"));
  return [json.data.length, created().length, await money(), files];
}

Deno.test("a dry run returns mode, providers, estimate and balance, and stores nothing", async () => {
  const before = await traces(gateway);
  const { status, json } = await dry({
    frame_images: [{ type: "image_url", image_url: { url: PIXEL }, frame_type: "first_frame" }],
  });
  assertEquals(status, 200);
  assertEquals(json, {
    dry_run: true,
    model: VALID_BODY.model,
    mode: "img2video",
    providers: ["ark"],
    estimate: { video_seconds: 5, video_cost: "0.5000000000", cost: 0.5 },
    dropped: [],
    balance_covers: true,
    admitted: true,
    refused_by: null,
  });
  assertEquals(await traces(gateway), before);
});

Deno.test("a dry run returns the candidates, the most likely first, or the requested provider", async () => {
  const { json } = await dry({ model: "sandbox/video-any" });
  assertEquals(json.providers, ["ark-bad", "ark-two"]);
  const pinned = await dry({ model: "sandbox/video-any", provider: { type: "ark-two" } });
  assertEquals(pinned.json.providers, ["ark-two"]);
});

Deno.test("a dry run reports an insufficient balance, for which a create is 402", async () => {
  const { status, json } = await dry({ duration: 12 });
  assertEquals([status, json.balance_covers, json.estimate.video_cost], [200, false, "1.2000000000"]);
  assertEquals((await call("POST", "/v1/videos", { ...VALID_BODY, duration: 12 })).status, 402);
});

const MISTAKES: readonly JsonObject[] = [
  { prompt: "" },
  { duration: 13 },
  { resolution: "4K" },
  { model: "sandbox/nothing" },
  { provider: { type: "nobody" } },
  { provider: { options: { ark: { frames: 289 } } } },
  { callback_url: "http://example.com/" },
  { input_references: [{ type: "image_url", image_url: { url: "data:image/png;base64,@@" } }] },
  { input_references: [{ type: "image_url", image_url: { url: "http://10.0.0.1/a.png" } }] },
  {
    input_references: [{ type: "video_url", video_url: { url: "data:video/mp4;base64,AAAAHGZ0eXBpc29tAAACAGlzb20=" } }],
  },
];

for (const fields of MISTAKES) {
  Deno.test(`a dry run rejects what a create rejects: ${JSON.stringify(fields).slice(0, 60)}`, async () => {
    const [tried, created] = [await dry(fields), await call("POST", "/v1/videos", { ...VALID_BODY, ...fields })];
    assertEquals(created.status >= 400, true);
    assertEquals([tried.status, tried.text], [created.status, created.text]);
  });
}

Deno.test("X-Service-Dry-Run is true, false or 400", async () => {
  for (const value of ["yes", "1", "", "TRUE", "true, true"]) {
    const { status, json } = await dry({}, { "x-service-dry-run": value });
    assertEquals([status, json.error.code], [400, "invalid_request"]);
    assertMatch(json.error.message, /X-Service-Dry-Run/);
  }
  const { status, json } = await dry({}, { "x-service-dry-run": "false" });
  assertEquals([status, json.status], [202, "pending"]);
  await until(json.id, "completed");
});

Deno.test("a dry run downloads no media for a key at its limit of requests", async () => {
  let downloads = 0;
  const media = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => {
    downloads++;
    return new Response("no clip", { status: 404 });
  });
  const key = newApiKey();
  const limited = await startVideoGateway({
    config: { accounts: [{ id: "demo", balance: "25.00", keys: [{ key, rpm: 1 }] }] },
  });
  const authorization = { authorization: `Bearer ${key}` };
  const clip = { type: "audio_url", audio_url: { url: `http://127.0.0.1:${media.addr.port}/a.mp3` } };
  const picture = { type: "image_url", image_url: { url: PIXEL } };
  const body = { ...VALID_BODY, input_references: [picture, clip] };
  const dryRun = () => limited.call("POST", "/v1/videos", body, { ...DRY, ...authorization });
  await dryRun();
  assertEquals(downloads > 0, true);
  const before = downloads;
  assertEquals((await limited.call("POST", "/v1/videos", VALID_BODY, authorization)).status, 202);
  const { json, text } = await dryRun();
  assertEquals([json.admitted, json.refused_by?.limit, downloads], [false, "rpm", before], text);
  await limited.stop();
  await media.shutdown();
});

Deno.test("a dry run does not use up its Idempotency-Key", async () => {
  const key = { "idempotency-key": "tried-first" };
  assertEquals((await dry({ duration: 3 }, key)).json.dry_run, true);
  const { status, headers } = await call("POST", "/v1/videos", { ...VALID_BODY, duration: 2 }, key);
  assertEquals([status, headers.get("idempotent-replayed")], [202, null]);
  assertEquals((await dry({}, { "idempotency-key": "two words" })).status, 400);
});

Deno.test("a create returns its estimate, and a repeat with the same key returns the same one", async () => {
  const key = { "idempotency-key": "estimate" };
  const first = await call("POST", "/v1/videos", { ...VALID_BODY, duration: 2 }, key);
  assertEquals(first.json.estimate, { video_seconds: 2, video_cost: "0.2000000000", cost: 0.2 });
  const again = await call("POST", "/v1/videos", { ...VALID_BODY, duration: 2 }, key);
  assertEquals([again.text, again.headers.get("idempotent-replayed")], [first.text, "true"]);
});

Deno.test("the estimate is for the maximum duration if the vendor decides", async () => {
  const { json } = await dry({ model: "sandbox/video-auto", duration: -1 });
  assertEquals(json.estimate, { video_seconds: 12, video_cost: "1.2000000000", cost: 1.2 });
});

Deno.test({
  name: "the gateway of the dry runs stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});
