import { assertEquals, assertMatch } from "@std/assert";
import { startVideoGateway, VALID_BODY } from "../../support/video_gateway.ts";

const gateway = await startVideoGateway();
const { call, create, until } = gateway;

const done = await create({ metadata: { order: "A-1", "team.name": "blue" } });
await until(done, "completed");
const refused = await create({ prompt: "No [[reject]]", metadata: { order: "A-2", "team.name": "blue" } });
await until(refused, "failed");
const waiting = await create({ prompt: "Later [[queue 600000]]", model: "sandbox/video-2", size: "1280x720" });

async function listed(query: string): Promise<string[]> {
  const { status, json, text } = await call("GET", `/v1/videos?${query}`);
  if (status !== 200) throw new Error(text);
  return json.data.map(({ id }: { id: string }) => id);
}

Deno.test("GET /v1/videos returns the tasks that match its filters, newest first by default", async () => {
  assertEquals(await listed(""), [waiting, refused, done]);
  assertEquals(await listed("order=asc"), [done, refused, waiting]);
  assertEquals(await listed("status=pending"), [waiting]);
  assertEquals(await listed("status=completed&model=sandbox%2Fvideo-1"), [done]);
  assertEquals(await listed("model=sandbox/video-2&status=completed"), []);
  assertEquals(await listed("model=nobody/knows"), []);
  assertEquals(await listed("metadata.team.name=blue"), [refused, done]);
  assertEquals(await listed("metadata.team.name=blue&metadata.order=A-1"), [done]);
  assertEquals(await listed("metadata.order=A-1&status=failed"), []);
  assertEquals(await listed(`order=asc&after=${done}&limit=1`), [refused]);
});

Deno.test("GET /v1/videos returns the first and last id of a page", async () => {
  const { json } = await call("GET", "/v1/videos?limit=2");
  assertEquals([json.first_id, json.last_id, json.next, json.has_more], [waiting, refused, refused, true]);
  const { json: none } = await call("GET", "/v1/videos?status=expired");
  assertEquals([none.data, none.first_id, none.last_id, none.next, none.has_more], [[], null, null, null, false]);
});

const BAD: readonly [query: string, named: string][] = [
  ["state=pending", "state"],
  ["metadata=a", "metadata"],
  ["metadata.=a", "metadata."],
  ["status=running", "status"],
  ["status=", "status"],
  ["model=", "model"],
  ["order=up", "order"],
  ["limit=0", "limit"],
  ["after=abc", "after"],
  ["status=pending&status=failed", "status"],
];

for (const [query, named] of BAD) {
  Deno.test(`GET /v1/videos?${query} is a 400 that names "${named}"`, async () => {
    const { status, json } = await call("GET", `/v1/videos?${query}`);
    assertEquals([status, json.error.code], [400, "invalid_request"]);
    assertMatch(json.error.message, new RegExp(`"${named.replace(".", "\\.")}"`));
  });
}

Deno.test("the task object has the caller's metadata and size, its polling address and its cost", async () => {
  const { json } = await call("GET", `/v1/videos/${done}`);
  assertEquals(json.metadata, { order: "A-1", "team.name": "blue" });
  assertEquals([json.object, json.polling_url], ["video", `${gateway.address}/v1/videos/${done}`]);
  assertEquals([json.progress, json.seconds, json.completed_at], [100, "5", json.updated_at]);
  assertEquals(json.usage, { video_seconds: 5, video_cost: "0.5000000000", cost: 0.5 });
  const { json: pending } = await call("GET", `/v1/videos/${waiting}`);
  assertEquals([pending.metadata, pending.size, pending.completed_at], [{}, "1280x720", null]);
  assertEquals(pending.usage, { video_seconds: 0, video_cost: "0.0000000000", cost: 0 });
});

const PAIRS = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, "v"]));

const METADATA: readonly [what: string, metadata: unknown, status: number][] = [
  ["16 pairs of the longest keys and values", { ...PAIRS(15), ["k".repeat(64)]: "v".repeat(512) }, 202],
  ["null", null, 202],
  ["17 pairs", PAIRS(17), 400],
  ["a key of 65 characters", { ["k".repeat(65)]: "v" }, 400],
  ["an empty key", { "": "v" }, 400],
  ["a value of 513 characters", { k: "v".repeat(513) }, 400],
  ["a number as value", { k: 1 }, 400],
  ["a list", ["a"], 400],
];

for (const [what, metadata, expected] of METADATA) {
  Deno.test(`metadata of ${what} returns ${expected}`, async () => {
    const headers = { authorization: `Bearer ${gateway.otherKey}` };
    const { status, json } = await call("POST", "/v1/videos", { ...VALID_BODY, metadata }, headers);
    assertEquals(status, expected);
    if (status === 400) assertMatch(json.error.message, /"metadata/);
    else assertEquals((await call("GET", `/v1/videos/${json.id}`, undefined, headers)).json.metadata, metadata ?? {});
  });
}

Deno.test({
  name: "the gateway of the listing tests stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});
