import { assert, assertEquals, assertMatch } from "@std/assert";
import { startVideoGateway, VALID_BODY } from "../../support/video_gateway.ts";

const gateway = await startVideoGateway();
const { call, create, until, money } = gateway;
const ordered = (directives: string) => ({ prompt: `A lighthouse [[queue 0]] [[run 0]] ${directives}` });

/** The balance is unchanged: nothing was charged, and nothing stays held. */
async function uncharged(work: () => Promise<void>): Promise<void> {
  const before = await money();
  await work();
  assertEquals(await money(), before);
}

const ENDS: readonly [how: string, directives: string, status: string, code: string | undefined][] = [
  ["a content refusal by the vendor", "[[refuse]]", "failed", "content_policy_violation"],
  ["a refusal of the prompt at once", "[[reject]]", "failed", "content_policy_violation"],
  ["a failure of the vendor", "[[failure]]", "failed", "upstream_error"],
  ["a success without a result", "[[noresult]]", "failed", "upstream_error"],
  ["an expiry at the vendor", "[[expire]]", "expired", undefined],
];

for (const [how, directives, status, code] of ENDS) {
  Deno.test(`after ${how} the task is ${status} and not charged`, () =>
    uncharged(async () => {
      const task = await until(await create(ordered(directives)), "completed", "failed", "cancelled", "expired");
      assertEquals([task.status, (task.error as { code?: string })?.code], [status, code]);
      assertEquals(task.usage, { video_seconds: 0, video_cost: "0.0000000000", cost: 0 });
      assertEquals([task.unsigned_urls, task.mirror_urls], [[], []]);
    }));
}

Deno.test("a rejected vendor key fails the task as upstream_auth_failed", () =>
  uncharged(async () => {
    const task = await until(await create({ model: "sandbox/video-bad" }), "failed");
    assertEquals((task.error as { code: string }).code, "upstream_auth_failed");
  }));

Deno.test("a task that one provider definitely rejected goes to the next", async () => {
  const task = await until(await create({ model: "sandbox/video-any" }), "completed", "failed");
  assertEquals([task.status, task.provider], ["completed", "ark-two"]);
});

Deno.test("a busy vendor is retried", async () => {
  const prompt = "Busy [[queue 0]] [[run 0]] [[fail 429 1]]";
  assertEquals((await until(await create({ prompt }), "completed", "failed")).status, "completed");
});

Deno.test("an interrupted create is found at the vendor and never made twice", async () => {
  const sent = gateway.created().length;
  const id = await create(ordered("[[cut]]"));
  assertEquals((await until(id, "completed", "failed")).status, "completed");
  assertEquals(gateway.created().length, sent + 1);
});

Deno.test("an unknown vendor status is pending and logged once", async () => {
  const id = await create({ prompt: "Word [[queue 0]] [[run 600000]] [[word daydreaming]]" });
  const polls = () =>
    gateway.sandbox.requests.filter(({ method, path }) => method === "GET" && path.startsWith("/ark/")).length;
  while (!gateway.logLines.some((line) => line.includes("daydreaming"))) await pause();
  const before = polls();
  while (polls() < before + 2) await pause(); // The second poll is evaluated before the third is sent.
  assertEquals((await call("GET", `/v1/videos/${id}`)).json.status, "pending");
  assertEquals(gateway.logLines.filter((line) => line.includes("daydreaming")).length, 1);
});

Deno.test("fewer seconds than requested are charged as reported, and a vendor's rounding is ignored", async () => {
  const shorter = await until(await create(ordered("[[seconds 3]]")), "completed");
  assertEquals(shorter.usage, { video_seconds: 3, video_cost: "0.3000000000", cost: 0.3 });
  const rounded = await until(await create(ordered("[[seconds 5.056]]")), "completed");
  assertEquals(rounded.usage, { video_seconds: 5, video_cost: "0.5000000000", cost: 0.5 });
});

Deno.test("DELETE of a queued task cancels it at the vendor, releases the hold and returns the task", () =>
  uncharged(async () => {
    const id = await create({ prompt: "Queued [[queue 600000]]" });
    const { status, json } = await call("DELETE", `/v1/videos/${id}`);
    assertEquals([status, json.id, json.status], [200, id, "cancelled"]);
    assertEquals((await call("GET", `/v1/videos/${id}`)).json.status, "cancelled");
    const again = await call("DELETE", `/v1/videos/${id}`);
    assertEquals([again.status, again.json.error.code], [400, "cancel_failed"]);
  }));

Deno.test("DELETE of a running task that the vendor cannot cancel is cancel_not_supported and changes nothing", async () => {
  const id = await create({ prompt: "Running [[queue 0]] [[run 600000]]" });
  while (!gateway.logLines.some((line) => line.includes("video_submitted") && line.includes(id))) await pause();
  const { status, json } = await call("DELETE", `/v1/videos/${id}`);
  assertEquals([status, json.error.code], [400, "cancel_not_supported"]);
  const after = (await call("GET", `/v1/videos/${id}`)).json.status;
  assert(after === "pending" || after === "in_progress", after);
});

Deno.test("DELETE of a completed task is cancel_failed", async () => {
  const id = await create();
  await until(id, "completed");
  const { status, json } = await call("DELETE", `/v1/videos/${id}`);
  assertEquals([status, json.error.code], [400, "cancel_failed"]);
});

Deno.test("unknown, malformed and foreign tasks are 404 in identical bytes, for GET, DELETE and content", async () => {
  const id = await create();
  const foreign = { authorization: `Bearer ${gateway.otherKey}` };
  const answers = await Promise.all(
    [["abc", {}], [id.toUpperCase(), {}], [crypto.randomUUID(), {}], [id, foreign]].flatMap(([name, headers]) => [
      call("GET", `/v1/videos/${name}`, undefined, headers as Record<string, string>),
      call("DELETE", `/v1/videos/${name}`, undefined, headers as Record<string, string>),
      call("GET", `/v1/videos/${name}/content`, undefined, headers as Record<string, string>),
    ]),
  );
  assertEquals(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
  assertEquals([answers[0]?.status, answers[0]?.json.error.code], [404, "not_found"]);
  assertEquals((await until(id, "completed")).status, "completed");
});

Deno.test("GET /v1/videos lists a credential's own tasks, newest first, page by page", async () => {
  const headers = { authorization: `Bearer ${gateway.otherKey}` };
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.unshift((await call("POST", "/v1/videos", VALID_BODY, headers)).json.id);
  const first = await call("GET", "/v1/videos?limit=3", undefined, headers);
  const second = await call("GET", `/v1/videos?limit=3&after=${first.json.next}`, undefined, headers);
  const found = [...first.json.data, ...second.json.data].map(({ id }: { id: string }) => id);
  assertEquals([found, first.json.has_more, second.json.has_more], [ids, true, false]);
  for (const query of ["limit=0", "limit=101", "limit=x", "after=abc"]) {
    assertEquals((await call("GET", `/v1/videos?${query}`, undefined, headers)).status, 400);
  }
});

Deno.test("GET /v1/videos/{id}/content redirects to the copy; before the end it is 404", async () => {
  const id = await create();
  await until(id, "completed");
  const { status, headers } = await call("GET", `/v1/videos/${id}/content`);
  assertEquals(status, 302);
  assertMatch(
    headers.get("location")!,
    new RegExp(`^${gateway.address}/files/${id}-0\\.mp4\\?expires=\\d+&signature=`),
  );
  const copy = await fetch(headers.get("location")!);
  assertEquals([copy.status, (await copy.bytes()).length], [200, 2500]);
  const early = await create({ prompt: "Later [[queue 0]] [[run 600000]]" });
  assertEquals((await call("GET", `/v1/videos/${early}/content`)).status, 404);
});

Deno.test("a result that cannot be copied keeps the vendor's address, and the copy is retried", async () => {
  const id = await create(ordered("[[missing]]"));
  const task = await until(id, "completed");
  assertEquals((task.unsigned_urls as string[]).length, 1);
  while (!gateway.logLines.some((line) => line.includes("video_mirror_failed") && line.includes(id))) await pause();
});

Deno.test("no log line contains a prompt, a result's address with its query or a key", () => {
  const secrets = ["lighthouse", "token=presigned", "signature=", gateway.key, "sandbox-key-ark"];
  for (const secret of secrets) assertEquals(gateway.logLines.filter((line) => line.includes(secret)), []);
});

Deno.test({
  name: "the gateway of the lifecycle tests stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
