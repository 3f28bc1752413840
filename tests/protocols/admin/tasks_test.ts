import { assert, assertEquals } from "@std/assert";
import { atLeast } from "../../support/items.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";
import { stateOf } from "../../support/patience.ts";

const gateway = await startVideoGateway();
const { call, create, until } = gateway;
const get = async (path: string) => {
  const { status, json } = await call("GET", `/admin/v1/tasks${path}`, undefined, {
    authorization: `Bearer ${gateway.adminKey}`,
  });
  return { status, json };
};
const ids = ({ json }: { json: { data: { id: string }[] } }) => json.data.map(({ id }) => id);
const SECRET_PROMPT = "a canary prompt 7f3a91";
const SECRET_FRAME = "https://frames.example/canary-frame-55aa77.png";

const made: string[] = [];
for (
  const fields of [
    { prompt: `${SECRET_PROMPT} [[queue 0]] [[run 0]]`, callback_url: "https://127.0.0.1:8443/canary-hook" },
    { prompt: "A lighthouse [[queue 0]] [[run 0]] [[refuse]]" },
    { prompt: "A lighthouse [[queue 600000]]", model: "sandbox/video-2" },
  ]
) made.push(await create(fields));
const [completed, failed, pending] = atLeast(made, 3);
await until(completed, "completed");
await until(failed, "failed");

async function submitted(id: string) {
  return await stateOf(
    `${id} is submitted`,
    async () => (await get(`/${id}`)).json,
    ({ step }) => step === "submitted",
  );
}

Deno.test("GET /admin/v1/tasks lists the tasks of all accounts, newest first, page by page", async () => {
  assertEquals(ids(await get("")), made.toReversed());
  const first = await get("?limit=2");
  const second = await get(`?limit=2&after=${first.json.next}`);
  assertEquals([...ids(first), ...ids(second)], made.toReversed());
  assertEquals(second.json.next, null);
  assertEquals(ids(await get("?order=asc")), made);
});

Deno.test("GET /admin/v1/tasks filters by account, status, model and creation time", async () => {
  assertEquals(ids(await get("?status=failed")), [failed]);
  assertEquals(ids(await get("?status=pending&account=demo")), [pending]);
  assertEquals(ids(await get("?account=another")), []);
  assertEquals(ids(await get("?model=sandbox/video-2")), [pending]);
  assertEquals(ids(await get("?model=sandbox/video-1&status=completed")), [completed]);
  const second = (await get(`/${completed}`)).json.created_at;
  assertEquals(ids(await get(`?to=${second}`)), []);
  assertEquals(ids(await get(`?from=${second}&order=asc`))[0], completed);
  assertEquals(ids(await get(`?from=${second + 3_600}`)), []);
  const { status, json } = await get("?statsu=failed");
  assertEquals([status, json.error.field], [400, "statsu"]);
  assertEquals(json.error.message, 'Cannot read "statsu": no such parameter; did you mean "status"?');
});

Deno.test("GET /admin/v1/tasks rejects an invalid parameter, naming it", async () => {
  for (
    const [query, field] of [
      ["status=lost", "status"],
      ["account=no%20name", "account"],
      ["model=", "model"],
      ["from=yesterday", "from"],
      ["to=-1", "to"],
      ["order=up", "order"],
      ["limit=0", "limit"],
      ["after=nowhere", "after"],
    ]
  ) {
    const { status, json } = await get(`?${query}`);
    assertEquals([status, json.error.code, json.error.field], [400, "invalid_request", field]);
  }
});

Deno.test("GET /admin/v1/tasks/{id} returns a task's account, provider and cost", async () => {
  const { json: account } = await call("GET", `/v1/videos/${completed}`);
  const { json } = await get(`/${completed}`);
  const { key, created_at, updated_at, deadline_at, ended_at, step_since, upstream_task, ...text } = json;
  assertEquals(text, {
    id: completed,
    account: "demo",
    model: "sandbox/video-1",
    mode: "text2video",
    status: "completed",
    step: "submitted",
    pinned_provider: null,
    provider: "ark",
    credential: null,
    upstream_model: "seedance-sandbox",
    attempts: 1,
    estimate: "0.5000000000",
    hold: { amount: "0.5000000000", state: "captured", captured: "0.5000000000" },
    charge: account.usage.video_cost,
    video_seconds: account.usage.video_seconds,
    failure: null,
    results: 1,
    copies: 1,
    is_copying: json.is_copying,
    has_callback: true,
  });
  assert(key.startsWith("key_"));
  assertEquals([created_at, ended_at, deadline_at], [account.created_at, updated_at, created_at + 86_400]);
  assert(step_since >= created_at && upstream_task.length > 0);
});

Deno.test("GET /admin/v1/tasks/{id} returns the progress of a pending task, and the reason of a failed one", async () => {
  const waiting = await submitted(pending);
  assertEquals([waiting.status, waiting.hold.state, waiting.ended_at, waiting.charge], ["pending", "open", null, null]);
  const { json } = await get(`/${failed}`);
  assertEquals([json.status, json.failure, json.hold.state], ["failed", "content_policy_violation", "released"]);
});

Deno.test("GET /admin/v1/tasks/{id} answers 404 for a malformed id", async () => {
  for (const id of ["lost", crypto.randomUUID(), completed.toUpperCase()]) {
    const { status, json } = await get(`/${id}`);
    assertEquals([status, json.error.code], [404, "not_found"]);
  }
});

Deno.test("the admin endpoints of tasks return no prompt, no reference, no result and no callback URL", async () => {
  const { json } = await call("POST", "/v1/videos", {
    model: "sandbox/video-1",
    prompt: SECRET_PROMPT,
    frame_images: [{ type: "image_url", image_url: { url: SECRET_FRAME }, frame_type: "first_frame" }],
  });
  const text = JSON.stringify([(await get("")).json, (await get(`/${json.id}`)).json]);
  assert(text.includes(json.id));
  const task = (await call("GET", `/v1/videos/${completed}`)).json;
  for (const secret of [SECRET_PROMPT, "canary", "http://", "https://", ...task.unsigned_urls, gateway.key]) {
    assert(!text.includes(secret), secret);
  }
});

Deno.test("the admin endpoints of tasks, providers and signing keys require the admin key", async () => {
  for (
    const [method, path] of [
      ["GET", "/admin/v1/tasks"],
      ["GET", `/admin/v1/tasks/${completed}`],
      ["GET", "/admin/v1/providers"],
      ["POST", "/admin/v1/signing-keys/rotate"],
    ] as const
  ) {
    const { status, json } = await call(method, path);
    assertEquals([status, json.error.code], [401, "invalid_api_key"], path);
  }
  const closed = await startVideoGateway({ config: { server: { port: 0, shutdown_grace: 1 } } });
  for (const path of ["tasks", "providers"]) assertEquals((await closed.call("GET", `/admin/v1/${path}`)).status, 404);
  assertEquals((await closed.call("POST", "/admin/v1/signing-keys/rotate")).status, 404);
  await closed.stop();
});

Deno.test("the gateway of these tests stops", async () => await gateway.stop());
