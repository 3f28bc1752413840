import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { PRICING, startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts";
import { stateOf } from "../support/patience.ts";

type Batch = Anthropic.Messages.MessageBatch;
type Result = Anthropic.Messages.MessageBatchIndividualResponse;
type BatchRequest = Anthropic.Messages.BatchCreateParams.Request;

interface Stage {
  readonly gateway: TestGateway;
  readonly client: Anthropic;
  readonly call: GatewayCall;
  readonly admin: GatewayCall;
  create(requests: readonly BatchRequest[]): Promise<Batch>;
  ended(id: string): Promise<Batch>;
  resultsOf(id: string): Promise<Result[]>;
  held(): Promise<string>;
}

const MANY_READS = { requests: 100_000, per: 1, burst: 10_000 };

function clientOf(address: string, apiKey: string): Anthropic {
  return new Anthropic({ baseURL: `${address}/msgcompat`, apiKey, maxRetries: 0 });
}

async function withStage(
  options: Pick<TestGatewayOptions, "isolates" | "balance">,
  use: (stage: Stage) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const gateway = await startTestGateway({
    ...options,
    config: { files: `${folder}/files`, limits: { reads: MANY_READS } },
  });
  const { address, key, adminKey } = gateway;
  const client = clientOf(address, key);
  const admin = callerOf(address, { authorization: `Bearer ${adminKey}` });
  try {
    await use({
      gateway,
      client,
      admin,
      call: callerOf(address, { "x-api-key": key, "anthropic-version": "2023-06-01" }),
      create: (requests) => client.messages.batches.create({ requests: [...requests] }),
      async ended(id) {
        const look = () => client.messages.batches.retrieve(id);
        return await stateOf("the batch has ended", look, (batch) => batch.processing_status === "ended");
      },
      async resultsOf(id) {
        const results: Result[] = [];
        for await (const result of await client.messages.batches.results(id)) results.push(result);
        return results;
      },
      held: async () => (await admin("GET", "/admin/v1/accounts/demo")).json.held,
    });
  } finally {
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

function ask(id: string, text: string, fields: Readonly<Record<string, unknown>> = {}): BatchRequest {
  const params = { model: "sandbox/messages-1", max_tokens: 50, messages: [{ role: "user", content: text }] };
  return { custom_id: id, params: { ...params, ...fields } as BatchRequest["params"] };
}

const NOTHING_HELD = "0.0000000000";

for (const isolates of [1, 2]) {
  Deno.test(`message batches: requests to any vendor, with ${isolates} threads`, async () => {
    await withStage({ isolates }, async ({ create, ended, resultsOf, held, admin }) => {
      const models = ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"];
      const requests = Array.from({ length: 12 }, (_, n) => ask(`r-${n}`, `Hello ${n}`, { model: models[n % 3] }));
      const created = await create(requests);
      assertMatch(created.id, /^msgbatch_[0-9a-f]{28}$/);
      assertEquals([created.type, created.processing_status, created.results_url], [
        "message_batch",
        "in_progress",
        null,
      ]);
      assertEquals(created.request_counts, { processing: 12, succeeded: 0, errored: 0, canceled: 0, expired: 0 });
      assertEquals(Date.parse(created.expires_at) - Date.parse(created.created_at), 86_400_000);
      const batch = await ended(created.id);
      assertEquals(batch.request_counts, { processing: 0, succeeded: 12, errored: 0, canceled: 0, expired: 0 });
      const results = await resultsOf(batch.id);
      assertEquals(results.map(({ custom_id }) => custom_id), requests.map(({ custom_id }) => custom_id));
      for (const { custom_id, result } of results) {
        assert(result.type === "succeeded");
        const [block] = result.message.content;
        assert(block?.type === "text");
        assertStringIncludes(block.text, custom_id.replace("r-", "Hello "));
        assertEquals([result.message.type, result.message.role], ["message", "assistant"]);
        assert(result.message.usage.output_tokens > 0);
      }
      assertEquals(await held(), NOTHING_HELD);
      const { json: { data } } = await admin("GET", "/admin/v1/accounts/demo/ledger?limit=100");
      const charges = data.filter(({ operation }: { operation: string }) => operation === "charge");
      assertEquals(
        charges.map(({ detail }: { detail: { custom_id: string } }) => detail.custom_id).sort(),
        requests.map(({ custom_id }) => custom_id).sort(),
      );
    });
  });
}

Deno.test("message batches: a request that fails is an errored result in the error format, and costs nothing", async () => {
  await withStage({}, async ({ create, ended, resultsOf, held }) => {
    const { id } = await create([ask("good", "Hello"), ask("bad", "[[fail 400]] Hello")]);
    assertEquals((await ended(id)).request_counts, {
      processing: 0,
      succeeded: 1,
      errored: 1,
      canceled: 0,
      expired: 0,
    });
    const [good, bad] = await resultsOf(id);
    assertEquals([good?.custom_id, good?.result.type], ["good", "succeeded"]);
    assert(bad?.result.type === "errored");
    assertEquals([bad.result.error.type, bad.result.error.error.type], ["error", "invalid_request_error"]);
    assertMatch(bad.result.error.request_id ?? "", /^req_/);
    assertEquals(await held(), NOTHING_HELD);
  });
});

Deno.test("message batches: wrong requests are refused with their place, and nothing is held", async () => {
  await withStage({}, async ({ call, client, held, gateway }) => {
    const cases: [readonly unknown[] | undefined, RegExp][] = [
      [undefined, /"requests"/],
      [[], /"requests"/],
      [[ask("a", "one"), ask("a", "two")], /requests\[1\].*custom_id/],
      [[ask("a b", "one")], /requests\[0\].*"custom_id"/],
      [[ask("a", "one"), { custom_id: "b" }], /requests\[1\].*"params"/],
      [[ask("a", "one"), ask("b", "two", { stream: true })], /requests\[1\].*"params.stream"/],
      [[ask("a", "one", { max_tokens: undefined })], /requests\[0\].*"max_tokens"/],
      [[ask("a", "one", { model: "sandbox/none" }), ask("", "two")], /requests\[0\].*sandbox\/none.*1 more/],
      [[7], /requests\[0\]/],
    ];
    for (const [requests, expected] of cases) {
      const { status, json } = await call("POST", "/msgcompat/v1/messages/batches", { requests });
      assertEquals([status, json.type, json.error?.type], [400, "error", "invalid_request_error"]);
      assertMatch(json.error.message, expected);
    }
    assertEquals(await held(), NOTHING_HELD);
    assertEquals((await client.messages.batches.list()).data, []);
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("message batches: one that the balance does not cover is 402 before anything is sent", async () => {
  await withStage({ balance: "0.001" }, async ({ create, held, gateway }) => {
    const requests = Array.from({ length: 20 }, (_, n) => ask(`${n}`, "Hello"));
    const error = await assertRejects(() => create(requests), Anthropic.APIError);
    assertEquals([error.status, error.type], [402, "billing_error"]);
    assertEquals(await held(), NOTHING_HELD);
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("message batches: a cancelled one has what was answered, and is deleted with its results", async () => {
  await withStage({}, async ({ create, client, ended, resultsOf, held }) => {
    const slow = Array.from({ length: 40 }, (_, n) => ask(`slow-${n}`, "[[stall 300]] Hello"));
    const { id } = await create([ask("fast", "Hello"), ...slow]);
    const early = await assertRejects(() => client.messages.batches.delete(id), Anthropic.APIError);
    assertEquals(early.status, 409);
    assertEquals((await client.messages.batches.cancel(id)).processing_status, "canceling");
    const batch = await ended(id);
    assert(batch.cancel_initiated_at !== null && batch.ended_at !== null);
    const results = await resultsOf(id);
    assertEquals(results.map(({ custom_id }) => custom_id), ["fast", ...slow.map(({ custom_id }) => custom_id)]);
    const canceled = results.filter(({ result }) => result.type === "canceled").length;
    assertEquals([batch.request_counts.canceled, batch.request_counts.succeeded], [canceled, 41 - canceled]);
    assert(canceled > 0);
    assertEquals(await held(), NOTHING_HELD);
    assertEquals(await client.messages.batches.delete(id), { id, type: "message_batch_deleted" });
    await assertRejects(() => client.messages.batches.retrieve(id), Anthropic.NotFoundError);
    await assertRejects(() => client.messages.batches.delete(id), Anthropic.NotFoundError);
    assertEquals((await client.messages.batches.list()).data, []);
  });
});

Deno.test("message batches: lists have pages in both directions, and an id is 404 in the other protocol", async () => {
  await withStage({}, async ({ create, client, call, admin, gateway, ended }) => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift((await create([ask("a", "Hello")])).id);
    const listed: string[] = [];
    for await (const { id } of client.messages.batches.list({ limit: 2 })) listed.push(id);
    assertEquals(listed, ids);
    const before = await client.messages.batches.list({ limit: 2, before_id: ids[4] ?? "" });
    assertEquals([before.data.map(({ id }) => id), before.has_more], [ids.slice(2, 4), true]);
    const backwards: string[] = [];
    for await (const { id } of before) backwards.push(id);
    assertEquals(backwards, [...ids.slice(2, 4), ...ids.slice(0, 2)]);
    const [first = ""] = ids;
    const digits = first.replace("msgbatch_", "");
    for (const id of [first, `batch_${digits}`]) assertEquals((await call("GET", `/v1/batches/${id}`)).status, 404);
    assertEquals((await call("GET", "/v1/batches")).json.data, []);
    assertEquals((await call("GET", `/msgcompat/v1/messages/batches/batch_${digits}`)).status, 404);
    assertEquals((await call("GET", `/msgcompat/v1/messages/batches?limit=0`)).status, 400);
    assertEquals((await call("GET", `/msgcompat/v1/messages/batches?page=2`)).status, 400);
    await ended(first);
    const keyOf = async (limits: object) =>
      clientOf(gateway.address, (await admin("POST", "/admin/v1/accounts/demo/keys", limits)).json.secret);
    const other = await keyOf({ name: "other" });
    for (const use of ["retrieve", "cancel", "delete", "results"] as const) {
      await assertRejects(async () => await other.messages.batches[use](first), Anthropic.NotFoundError);
    }
    const noMessages = await keyOf({ name: "batches", endpoints: ["batches"] });
    await assertRejects(
      () => noMessages.messages.batches.create({ requests: [ask("a", "Hello")] }),
      Anthropic.PermissionDeniedError,
    );
  });
});

Deno.test("message batches: a dry run checks and prices the requests, and betas go to the vendor", async () => {
  await withStage({}, async ({ call, client, ended, gateway }) => {
    const requests = [ask("a", "Hello"), ask("b", "Hello")];
    const path = "/msgcompat/v1/messages/batches";
    const trial = await call("POST", path, { requests }, { "x-service-dry-run": "true" });
    assertEquals([trial.status, trial.json.dry_run, trial.json.estimate.requests], [200, true, 2], trial.text);
    assert(trial.json.estimate.cost >= 2 * 50 * Number(PRICING.completion));
    assertEquals((await client.messages.batches.list()).data, []);
    const created = await call("POST", path, { requests: [ask("a", "Hello")] }, { "anthropic-beta": "one-2026-01-01" });
    await ended(created.json.id);
    assertEquals(gateway.sandbox.requests.map(({ headers }) => headers["anthropic-beta"]), ["one-2026-01-01"]);
    const early = await call("POST", path, { requests: [ask("a", "[[stall 3000]] Hello")] });
    assertEquals((await call("GET", `${path}/${early.json.id}/results`)).status, 404);
    await call("POST", `${path}/${early.json.id}/cancel`);
  });
});
