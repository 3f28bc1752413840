import { assertEquals, assertMatch } from "@std/assert";
import type { JsonObject } from "../../../src/platform/lib/json/json_object.ts";
import { startVideoGateway, VALID_BODY, type VideoGateway } from "../../support/video_gateway.ts";

/** A video of 5 s for 0.50 USD, reported with another duration. The model supports 2 to 12 s. */
const reporting = (seconds: number) => `Seconds [[queue 0]] [[run 0]] [[seconds ${seconds}]]`;

async function finished(gateway: VideoGateway, seconds: number, fields = {}) {
  const id = await gateway.create({ prompt: reporting(seconds), ...fields });
  return await gateway.until(id, "completed", "failed");
}

const logged = ({ logLines }: VideoGateway, event: string) =>
  logLines.map((line) => JSON.parse(line)).filter((line) => line.event === event);

/** Duration in the last request to the vendor. */
const lastDuration = (gateway: VideoGateway) => (gateway.created().at(-1)!.body as JsonObject).duration;

async function captureOf({ call, adminKey }: VideoGateway) {
  const path = "/admin/v1/accounts/demo/ledger";
  const { json } = await call("GET", path, undefined, { authorization: `Bearer ${adminKey}` });
  return json.data.find((line: { operation: string }) => line.operation === "capture");
}

Deno.test("a cost above the hold is charged to the balance", async () => {
  const gateway = await startVideoGateway({ balance: "2.00" });
  const { usage } = await finished(gateway, 9);
  assertEquals(usage, { video_seconds: 9, video_cost: "0.9000000000", cost: 0.9 });
  assertEquals(await gateway.money(), { balance: "1.1000000000", held: "0.0000000000" });
  assertEquals(logged(gateway, "underpriced"), []);
  await gateway.stop();
});

Deno.test("a cost above the balance is logged as underpriced and not charged", async () => {
  const gateway = await startVideoGateway({ balance: "0.70" });
  const task = await finished(gateway, 9);
  assertEquals(task.usage, { video_seconds: 9, video_cost: "0.7000000000", cost: 0.7 });
  assertEquals(await gateway.money(), { balance: "0.0000000000", held: "0.0000000000" });
  const [{ ref, accountId, model, provider, cost }] = logged(gateway, "underpriced");
  assertEquals([ref, accountId, model, provider, cost], [task.id, "demo", VALID_BODY.model, "ark", "0.2000000000"]);
  const line = await captureOf(gateway);
  assertEquals([line.balance, line.detail.underpriced], ["-0.2000000000", "0.2000000000"]);
  await gateway.stop();
});

Deno.test("reported seconds above the model's maximum are capped at it", async () => {
  const gateway = await startVideoGateway();
  const task = await finished(gateway, 3_000);
  assertEquals(task.usage, { video_seconds: 12, video_cost: "1.2000000000", cost: 1.2 });
  const [{ ref, reason }] = logged(gateway, "usage_implausible");
  assertEquals(ref, task.id);
  assertMatch(reason, /3000/);
  await gateway.stop();
});

Deno.test("duration -1 lets the vendor decide: the maximum is held, the generated duration is charged", async () => {
  const gateway = await startVideoGateway();
  const later = await gateway.create({ model: "sandbox/video-auto", duration: -1, prompt: "Later [[queue 600000]]" });
  assertEquals((await gateway.money()).held, "1.2000000000");
  await gateway.call("DELETE", `/v1/videos/${later}`);
  const task = await finished(gateway, 7, { model: "sandbox/video-auto", duration: -1 });
  assertEquals(task.usage, { video_seconds: 7, video_cost: "0.7000000000", cost: 0.7 });
  assertEquals(lastDuration(gateway), -1);
  assertEquals((await gateway.money()).balance, "24.3000000000");
  await gateway.stop();
});

Deno.test("a continued video without a duration is sent none if the model decides, and the default otherwise", async () => {
  const gateway = await startVideoGateway();
  const video = { type: "video_url", video_url: { url: "https://media.example.com/a.mp4" } };
  const following = { input_references: [video] };
  const task = await finished(gateway, 11, { model: "sandbox/video-auto", ...following });
  assertEquals(task.usage, { video_seconds: 11, video_cost: "1.1000000000", cost: 1.1 });
  assertEquals(lastDuration(gateway), undefined);
  await finished(gateway, 3, { model: "sandbox/video-auto", duration: 3, ...following });
  assertEquals(lastDuration(gateway), 3);
  await finished(gateway, 5, following);
  assertEquals(lastDuration(gateway), 5);
  await gateway.stop();
});

Deno.test("duration -1 is 400 for a model with fixed durations", async () => {
  const gateway = await startVideoGateway();
  const { status, json } = await gateway.call("POST", "/v1/videos", { ...VALID_BODY, duration: -1 });
  assertEquals([status, json.error.code], [400, "invalid_request"]);
  assertMatch(json.error.message, /"duration".*2 to 12/);
  const other = await gateway.call("POST", "/v1/videos", { ...VALID_BODY, model: "sandbox/video-auto", duration: 13 });
  assertMatch(other.json.error.message, /"duration".*2 to 12.*-1/);
  await gateway.stop();
});
