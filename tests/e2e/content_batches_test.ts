import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { ApiError, type BatchJob } from "@google/genai";
import { PRICING } from "../support/gateway.ts";
import { stateOf } from "../support/patience.ts";
import { clientOf, line, requestOf, withStage } from "./content_batch_stage.ts";

const BATCHES = "/gencompat/v1beta/batches";
const CREATE = "/gencompat/v1beta/models/sandbox/content-1:batchGenerateContent";
const NOTHING_HELD = "0.0000000000";

for (const isolates of [1, 2]) {
  Deno.test(`content batches: requests in the create, to any vendor, with ${isolates} threads`, async () => {
    await withStage({ isolates }, async ({ client, ended, held, admin, call }) => {
      const models = ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"];
      const requests = Array.from(
        { length: 9 },
        (_, n) =>
          requestOf(`Hello ${n}`, { metadata: { key: `key ${n}` }, ...n > 5 && { model: models[n % 3] ?? "" } }),
      );
      const created = await client.batches.create({
        model: "sandbox/chat-1",
        src: requests,
        config: { displayName: 'My "first"' },
      });
      assertMatch(created.name ?? "", /^batches\/[0-9a-f]{28}$/);
      assertEquals([created.state, created.displayName], ["JOB_STATE_PENDING", 'My "first"']);
      assertEquals(created.model, "models/sandbox/chat-1");
      const job = await ended(created);
      assertEquals([job.state, job.displayName], ["JOB_STATE_SUCCEEDED", 'My "first"']);
      assert(job.endTime !== undefined && job.createTime !== undefined);
      const responses = job.dest?.inlinedResponses ?? [];
      assertEquals(responses.map(({ metadata }) => metadata), requests.map(({ metadata }) => metadata));
      for (const [n, { response, error }] of responses.entries()) {
        assertEquals(error, undefined);
        assertStringIncludes(response?.candidates?.[0]?.content?.parts?.[0]?.text ?? "", `Hello ${n}`);
        assert((response?.usageMetadata?.candidatesTokenCount ?? 0) > 0);
      }
      const { json } = await call("GET", `/gencompat/v1beta/${job.name}`);
      assertEquals(json.done, true);
      assertEquals(json.response.inlinedResponses, json.metadata.output.inlinedResponses);
      assertEquals(json.metadata.batchStats, {
        requestCount: "9",
        successfulRequestCount: "9",
        failedRequestCount: "0",
        pendingRequestCount: "0",
      });
      assertEquals(await held(), NOTHING_HELD);
      const { json: { data } } = await admin("GET", "/admin/v1/accounts/demo/ledger?limit=100");
      const charges = data.filter(({ operation }: { operation: string }) => operation === "charge");
      assertEquals(
        charges.map(({ detail }: { detail: { custom_id: string } }) => detail.custom_id).sort(),
        requests.map((_, n) => `key ${n}`),
      );
    });
  });
}

Deno.test("content batches: the lines of a file, with the results in a file", async () => {
  await withStage({}, async ({ client, store, ended, linesOf }) => {
    const fileName = await store([
      line("a", "One"),
      line("b", "[[fail 400]] Two"),
      line("c", "Three", { model: "models/sandbox/chat-1" }),
    ]);
    const job = await ended(await client.batches.create({ model: "sandbox/messages-1", src: fileName }));
    assertEquals([job.state, job.dest?.inlinedResponses], ["JOB_STATE_SUCCEEDED", undefined]);
    const lines = await linesOf(job.dest?.fileName);
    assertEquals(lines.map(({ key }) => key), ["a", "b", "c"]);
    const [one, two, three] = lines;
    assertStringIncludes(one?.response.candidates[0].content.parts[0].text, "One");
    assertEquals([two?.error?.code, two?.response], [3, undefined]);
    assertStringIncludes(three?.response.candidates[0].content.parts[0].text, "Three");
  });
});

Deno.test("content batches: metadata of any kind comes back, and need not be unique", async () => {
  await withStage({}, async ({ call, create, ended }) => {
    const metadata = [
      { key: "a" },
      { key: "a" },
      { key: '{"x":1}' },
      { n: "1", key: "b" },
      { deep: { x: [1] } },
      undefined,
    ];
    const requests = metadata.map((each) => ({ ...requestOf("Hello"), ...each && { metadata: each } }));
    const body = {
      batch: {
        input_config: {
          requests: {
            requests: requests.map(({ contents, metadata }) => ({
              request: { contents },
              metadata,
            })),
          },
        },
        display_name: "snake",
      },
    };
    const { status, json } = await call("POST", CREATE, body);
    assertEquals([status, json.metadata?.displayName], [200, "snake"]);
    await ended(json);
    const found = (await call("GET", `/gencompat/v1beta/${json.name}`)).json.response.inlinedResponses.inlinedResponses;
    assertEquals(found.map((each: { metadata?: unknown }) => each.metadata), metadata);
    const failed = await ended(await create([requestOf("[[fail 400]] Hello"), requestOf("Hello")]));
    const [first, second] = failed.dest?.inlinedResponses ?? [];
    assertEquals([first?.error?.code, second?.error], [3, undefined]);
  });
});

Deno.test("content batches: embeddings", async () => {
  await withStage({}, async ({ client, ended }) => {
    const src = { inlinedRequests: { contents: ["One", "Two"] } };
    const job = await ended(await client.batches.createEmbeddings({ model: "sandbox/embedding-1", src }));
    assertEquals(job.state, "JOB_STATE_SUCCEEDED");
    const { inlinedEmbedContentResponses: found, inlinedResponses } = job.dest ?? {};
    const responses = found ?? inlinedResponses ?? [];
    assertEquals(responses.length, 2);
    for (const { response } of responses) assert(response !== undefined && "embedding" in response);
  });
});

Deno.test("content batches: wrong requests are refused with their place, and nothing is held", async () => {
  await withStage({}, async ({ call, client, store, held, gateway }) => {
    const inline = (...requests: unknown[]) => ({ batch: { inputConfig: { requests: { requests } } } });
    const good = { request: { contents: [{ parts: [{ text: "Hello" }] }] } };
    const file = async (...lines: unknown[]) => ({ batch: { inputConfig: { fileName: await store(lines) } } });
    const LIST = "batch.inputConfig.requests.requests";
    const cases: [object, string, RegExp][] = [
      [{}, "batch.inputConfig", /fileName/],
      [{ batch: 1 }, "batch", /object/],
      [{ batch: { displayName: 1 } }, "batch.displayName", /text/],
      [inline(), LIST, /1 to 5000/],
      [
        { ...inline(good), ...{ batch: { ...inline(good).batch, webhookConfig: { uris: [] } } } },
        "batch.webhookConfig.uris",
        /one/,
      ],
      [inline(good, 7), `${LIST}[1]`, /\[1\]/],
      [inline(good, {}), `${LIST}[1].request`, /"request"/],
      [inline({ ...good, metadata: 1 }), `${LIST}[0].metadata`, /"metadata"/],
      [inline(good, { request: { contents: 1 } }), `${LIST}[1].request.contents`, /"contents"/],
      [inline({ request: { ...good.request, model: "models/none" } }), `${LIST}[0].request.model`, /none/],
      [await file(line("a", "x"), { request: {} }), "batch.inputConfig.fileName", /line 2.*"key"/],
      [await file(line("a", "x"), line("a", "y"), "{"), "batch.inputConfig.fileName", /line 2.*1 more/],
    ];
    for (const [body, field, expected] of cases) {
      const { status, json } = await call("POST", CREATE, body);
      assertEquals([status, json.error?.status], [400, "INVALID_ARGUMENT"], JSON.stringify(json));
      assertEquals(json.error.details[0].fieldViolations[0].field, field);
      assertMatch(json.error.message, expected);
    }
    const missing = { batch: { inputConfig: { fileName: "files/none" } } };
    assertEquals((await call("POST", CREATE, missing)).json.error.status, "NOT_FOUND");
    assertEquals(await held(), NOTHING_HELD);
    assertEquals((await client.batches.list()).page, []);
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("content batches: one that the balance does not cover is 402 before anything is sent", async () => {
  await withStage({ balance: "0.001" }, async ({ create, held, gateway }) => {
    const error = await assertRejects(() => create(Array.from({ length: 20 }, () => requestOf("Hello"))), ApiError);
    assertEquals(error.status, 402);
    assertEquals(await held(), NOTHING_HELD);
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("content batches: a cancelled one has what was answered, and a deleted one ends without results", async () => {
  await withStage({}, async ({ create, client, call, ended, held, admin }) => {
    const slow = Array.from({ length: 40 }, (_, n) => requestOf("[[stall 300]] Hello", { metadata: { key: `${n}` } }));
    const created = await create(slow);
    const { name = "" } = created;
    await client.batches.cancel({ name });
    const job = await ended(created);
    assertEquals(job.state, "JOB_STATE_CANCELLED");
    const responses = job.dest?.inlinedResponses ?? [];
    assertEquals(responses.map(({ metadata }) => metadata?.key), slow.map((_, n) => `${n}`));
    assert(responses.some(({ error }) => error?.code === 1));
    const { json } = await call("GET", `/gencompat/v1beta/${name}`);
    assertEquals([json.done, json.error.code, json.response], [true, 1, undefined]);
    await client.batches.cancel({ name });
    await client.batches.delete({ name });
    assertEquals((await call("GET", `/gencompat/v1beta/${name}`)).status, 404);
    const other = await create(slow);
    await client.batches.delete({ name: other.name ?? "" });
    assertEquals((await client.batches.list()).page, []);
    await stateOf("nothing is held", held, (amount) => amount === NOTHING_HELD);
    assertEquals((await call("GET", "/v1/files")).json.data, []);
    const { json: { data } } = await admin("GET", "/admin/v1/accounts/demo/ledger?limit=100");
    assert(
      data.some(({ detail }: { detail: { batch?: string } }) =>
        detail?.batch === (other.name ?? "").replace("batches/", "batch_")
      ),
    );
  });
});

Deno.test("content batches: lists have pages, and an id is 404 in other protocols and for other keys", async () => {
  await withStage({}, async ({ create, client, call, admin, gateway, ended }) => {
    const jobs: BatchJob[] = [];
    for (let n = 0; n < 5; n++) jobs.unshift(await create([requestOf("Hello")]));
    const listed: (string | undefined)[] = [];
    for await (const { name } of await client.batches.list({ config: { pageSize: 2 } })) listed.push(name);
    assertEquals(listed, jobs.map(({ name }) => name));
    const [first] = jobs;
    assert(first !== undefined);
    const digits = (first.name ?? "").replace("batches/", "");
    const version = { "anthropic-version": "2023-06-01" };
    assertEquals((await call("GET", `/v1/batches/batch_${digits}`)).status, 404);
    assertEquals(
      (await call("GET", `/msgcompat/v1/messages/batches/msgbatch_${digits}`, undefined, version)).status,
      404,
    );
    assertEquals((await call("GET", `${BATCHES}/batch_${digits}`)).status, 404);
    assertEquals((await call("GET", "/v1/batches")).json.data, []);
    assertEquals((await call("GET", `${BATCHES}?pageSize=x`)).status, 400);
    assertEquals((await call("GET", `/gencompat/v1/batches/${digits}`)).status, 200);
    await ended(first);
    const keyOf = async (limits: object) =>
      clientOf(gateway.address, (await admin("POST", "/admin/v1/accounts/demo/keys", limits)).json.secret);
    const { batches: other } = await keyOf({ name: "other" });
    const { name = "" } = first;
    for (const use of [other.get({ name }), other.cancel({ name }), other.delete({ name })]) {
      assertEquals((await assertRejects(() => use, ApiError)).status, 404);
    }
    const noContent = await keyOf({ name: "batches", endpoints: ["batches"] });
    const refused = await assertRejects(
      () => noContent.batches.create({ model: "sandbox/content-1", src: [requestOf("Hello")] }),
      ApiError,
    );
    assertEquals(refused.status, 403);
  });
});

Deno.test("content batches: a dry run checks and prices the requests, and a webhook tells the end", async () => {
  await withStage({}, async ({ call, client, admin }) => {
    const { json: receiver } = await admin("POST", "/admin/v1/webhook-receivers", { account: "demo", minutes: 5 });
    const request = { contents: [{ parts: [{ text: "Hello" }] }], generationConfig: { maxOutputTokens: 50 } };
    const requests = { requests: [{ request }, { request }] };
    const body = { batch: { inputConfig: { requests }, webhookConfig: { uris: [receiver.url] } } };
    const trial = await call("POST", CREATE, body, { "x-service-dry-run": "true" });
    assertEquals([trial.status, trial.json.dry_run, trial.json.estimate.requests], [200, true, 2], trial.text);
    assert(trial.json.estimate.cost >= 2 * 50 * Number(PRICING.completion));
    assertEquals((await client.batches.list()).page, []);
    const { json: { name } } = await call("POST", CREATE, body);
    const look = async () => (await admin("GET", `/admin/v1/webhook-receivers/${receiver.id}`)).json.data;
    const [delivery] = await stateOf("the event has arrived", look, (data) => data?.length > 0);
    const event = JSON.parse(delivery.body);
    assertEquals([event.event, event.data.name, event.data.metadata.state], [
      "batch.completed",
      name,
      "BATCH_STATE_SUCCEEDED",
    ]);
  });
});
