import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import OpenAI, { toFile } from "openai";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { PRICING, startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { stateOf } from "../support/patience.ts";

interface Stage {
  readonly gateway: TestGateway;
  readonly folder: string;
  readonly client: OpenAI;
  readonly call: GatewayCall;
  readonly admin: GatewayCall;
  /** Stores lines, and returns the id of their file. */
  store(lines: readonly unknown[]): Promise<string>;
  /** Creates a batch of chats. */
  create(lines: readonly unknown[], fields?: Readonly<Record<string, unknown>>): Promise<OpenAI.Batch>;
  ended(id: string): Promise<OpenAI.Batch>;
  linesOf(fileId: string | null | undefined): Promise<Line[]>;
  money(): Promise<{ readonly balance: string; readonly held: string }>;
}

interface Line {
  readonly custom_id: string;
  // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
  readonly response: any;
  readonly error: { readonly code: string } | null;
}

interface StageOptions {
  readonly isolates?: number;
  readonly balance?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

function clientOf(address: string, apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${address}/v1`, apiKey, maxRetries: 0 });
}

async function withStage(options: StageOptions, use: (stage: Stage) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const { isolates, balance, config } = options;
  const gateway = await startTestGateway({
    ...isolates !== undefined && { isolates },
    ...balance !== undefined && { balance },
    config: { files: `${folder}/files`, ...config },
  });
  const { address, key, adminKey } = gateway;
  const client = clientOf(address, key);
  const admin = callerOf(address, { authorization: `Bearer ${adminKey}` });
  const stage: Stage = {
    gateway,
    folder,
    client,
    admin,
    call: callerOf(address, { authorization: `Bearer ${key}` }),
    async store(lines) {
      const text = lines.map((line) => typeof line === "string" ? line : JSON.stringify(line)).join("\n");
      const file = await toFile(new TextEncoder().encode(text), "in.jsonl");
      return (await client.files.create({ file, purpose: "batch" })).id;
    },
    async create(lines, fields = {}) {
      return await client.batches.create({
        input_file_id: await stage.store(lines),
        endpoint: "/v1/chat/completions",
        completion_window: "24h",
        ...fields,
      });
    },
    async ended(id) {
      const ends = ["completed", "failed", "cancelled", "expired"];
      return await stateOf(`${id} has ended`, () => client.batches.retrieve(id), ({ status }) => ends.includes(status));
    },
    async linesOf(fileId) {
      const text = await (await client.files.content(fileId ?? "")).text();
      return text.trimEnd().split("\n").map((line) => JSON.parse(line));
    },
    async money() {
      const { json } = await admin("GET", "/admin/v1/accounts/demo");
      return { balance: json.balance, held: json.held };
    },
  };
  try {
    await use(stage);
  } finally {
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

const chat = (id: string, text: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  custom_id: id,
  method: "POST",
  url: "/v1/chat/completions",
  body: { model: "sandbox/chat-1", messages: [{ role: "user", content: text }], max_tokens: 50, ...fields },
});

const NO_MONEY = { held: "0.0000000000" };

for (const isolates of [1, 2]) {
  Deno.test(`batches: lines of several models behind any vendor, with ${isolates} threads`, async () => {
    await withStage({ isolates }, async ({ create, ended, linesOf, money, admin }) => {
      const models = ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"];
      const lines = Array.from({ length: 30 }, (_, n) => chat(`line ${n}`, `Hello ${n}`, { model: models[n % 3] }));
      const created = await create(lines, { metadata: { order: "A-17" } });
      assertMatch(created.id, /^batch_[0-9a-f]{28}$/);
      assertEquals(created.metadata, { order: "A-17" });
      const batch = await ended(created.id);
      assertEquals(batch.status, "completed");
      assertEquals(batch.request_counts, { total: 30, completed: 30, failed: 0 });
      assertEquals(batch.error_file_id, null);
      const output = await linesOf(batch.output_file_id);
      assertEquals(output.map((line) => line.custom_id).sort(), lines.map((line) => line.custom_id).sort());
      for (const { custom_id, response, error } of output) {
        assertEquals([response.status_code, error], [200, null]);
        const said = custom_id.replace("line", "Hello");
        assertStringIncludes(response.body.choices[0].message.content, said);
        assertMatch(response.request_id, /^req_/);
      }
      assertEquals((await money()).held, NO_MONEY.held);
      const { json: { data } } = await admin("GET", "/admin/v1/accounts/demo/ledger?limit=100");
      const charges = data.filter(({ operation }: { operation: string }) => operation === "charge");
      assertEquals(charges.length, 30);
      for (const { detail, requests, reference } of charges) {
        assertEquals([detail.batch, requests.length], [batch.id, 1]);
        assertMatch(detail.custom_id, /^line \d+$/);
        assertMatch(reference, new RegExp(`^${batch.id}:\\d+$`));
      }
      const { service_batch: service } = batch as unknown as { service_batch: Record<string, string> };
      assertEquals(service.mode, "emulated");
      const cost = charges.reduce(
        (sum: number, { requests }: { requests: { cost: string }[] }) => sum + Number(requests[0]?.cost),
        0,
      );
      assertEquals(Number(service.cost).toFixed(9), cost.toFixed(9));
      assert(cost > 0 && Number(service.estimate) > cost);
      assertEquals(Number((await money()).balance).toFixed(9), (25 - cost).toFixed(9));
      const usage = (await admin("GET", "/admin/v1/usage?group_by=kind")).json;
      assertEquals(usage.data[0].kind, "text");
      assertEquals(usage.data[0].requests, 30);
    });
  });
}

Deno.test("batches: an invalid file is a failed batch with the first errors by line, and holds nothing", async () => {
  await withStage({}, async ({ create, money, gateway, folder }) => {
    const batch = await create([
      chat("a", "one"),
      "{",
      chat("a", "two"),
      "",
      { ...chat("b", "three"), url: "/v1/embeddings" },
      chat("c", "four", { stream: true }),
      chat("d", "five", { model: "sandbox/none" }),
      { ...chat("", "six") },
      chat("e", "seven", { temperature: "hot" }),
    ]);
    assertEquals(batch.status, "failed");
    assertEquals(batch.errors?.data?.map(({ code, line, param }) => [code, line, param]), [
      ["invalid_request", 2, null],
      ["duplicate_custom_id", 3, "custom_id"],
      ["invalid_url", 5, "url"],
      ["invalid_request", 6, "body.stream"],
      ["model_not_found", 7, "model"],
      ["invalid_request", 8, "custom_id"],
      ["invalid_request", 9, "temperature"],
    ]);
    assertEquals(
      batch.errors?.data?.[0]?.message,
      "Cannot read the line as JSON: got the end of the text at position 1",
    );
    const bare = await create([{ model: "sandbox/chat-1", messages: [] }, { custom_id: "a", params: {} }]);
    assertEquals(bare.errors?.data?.map(({ message }) => message), [
      'Cannot read "custom_id": expected text of 1 to 512 characters, got nothing',
      'Cannot read "body": expected an object, got nothing',
    ]);
    assertEquals(await money(), { balance: "25.0000000000", ...NO_MONEY });
    assertEquals(gateway.sandbox.requests.filter(({ path }) => path.includes("chat")).length, 0);
    assertEquals((await create([""])).errors?.data?.[0]?.code, "empty_file");
    const left = Array.from(Deno.readDirSync(`${folder}/files`), ({ name }) => name);
    assertEquals(left.filter((name) => name.startsWith("batch")), []);
  });
});

Deno.test("batches: one that the balance does not cover is 402 before anything is sent", async () => {
  await withStage({ balance: "0.001" }, async ({ create, client, money, gateway }) => {
    const lines = Array.from({ length: 20 }, (_, n) => chat(`${n}`, "Hello"));
    const error = await assertRejects(() => create(lines), OpenAI.APIError);
    assertEquals([error.status, error.code], [402, "insufficient_credits"]);
    assertEquals(await money(), { balance: "0.0010000000", ...NO_MONEY });
    assertEquals((await client.batches.list()).data, []);
    assertEquals(gateway.sandbox.requests.length, 0);
  });
});

Deno.test("batches: lines that fail are in the error file, and cost nothing", async () => {
  await withStage({}, async ({ create, ended, linesOf, money }) => {
    const created = await create([chat("good", "Hello"), chat("bad", "[[fail 400]] Hello")]);
    const batch = await ended(created.id);
    assertEquals(batch.request_counts, { total: 2, completed: 1, failed: 1 });
    assertEquals((await linesOf(batch.output_file_id)).map((line) => line.custom_id), ["good"]);
    const [failed] = await linesOf(batch.error_file_id);
    assertEquals([failed?.custom_id, failed?.response.status_code], ["bad", 400]);
    assertEquals((await money()).held, NO_MONEY.held);
  });
});

Deno.test("batches: embeddings, moderations, responses and images are lines, too", async () => {
  const config = {
    models: [
      textModel("sandbox/chat-1", ["sandbox-openai"]),
      {
        id: "sandbox/embedding-1",
        pricing: { prompt: "0.000001" },
        embedding: {},
        serves: [{ provider: "sandbox-openai" }],
      },
      {
        id: "sandbox/moderation-1",
        pricing: "free",
        moderation: {},
        serves: [{ provider: "sandbox-openai" }],
      },
      {
        id: "sandbox/painter-1",
        pricing: { prompt: "0.000001", image_input: "0.000002", image_output: "0.00001" },
        image: { series: "default" },
        serves: [{ provider: "sandbox-openai", model: "gpt-image-1.5" }],
      },
    ],
  };
  await withStage({ config }, async ({ create, ended, linesOf, call }) => {
    for (
      const [endpoint, body, object] of [
        ["/v1/responses", { model: "sandbox/chat-1", input: "Hello", max_output_tokens: 50 }, "response"],
        ["/v1/embeddings", { model: "sandbox/embedding-1", input: "Hello" }, "list"],
        ["/v1/moderations", { model: "sandbox/moderation-1", input: "Hello" }, undefined],
        ["/v1/images/generations", { model: "sandbox/painter-1", prompt: "A fox", quality: "low" }, undefined],
      ] as const
    ) {
      const created = await create([{ custom_id: "a", method: "POST", url: endpoint, body }], { endpoint });
      assertEquals(created.errors, null);
      const batch = await ended(created.id);
      const [line] = await linesOf(batch.output_file_id);
      assertEquals([line?.response.status_code, line?.response.body.object], [200, object], endpoint);
      if (endpoint !== "/v1/images/generations") continue;
      assert(line?.response.body.data[0].b64_json.length > 100, "the image is in the file");
      const { json } = await call("GET", `/v1/batches/${batch.id}`);
      const { cost, estimate } = json.service_batch;
      assert(Number(cost) > 0 && Number(cost) <= Number(estimate), `${cost} of ${estimate}`);
    }
  });
});

Deno.test("batches: a cancelled batch keeps what was answered, and releases the rest", async () => {
  await withStage({}, async ({ create, client, ended, linesOf, money }) => {
    const created = await create([
      chat("fast", "Hello"),
      ...Array.from({ length: 40 }, (_, n) => chat(`slow ${n}`, "[[stall 300]] Hello")),
    ]);
    const completed = async () => (await client.batches.retrieve(created.id)).request_counts?.completed ?? 0;
    await stateOf("a line is completed", completed, (count) => count > 0);
    assertEquals((await client.batches.cancel(created.id)).status, "cancelling");
    const batch = await ended(created.id);
    assertEquals(batch.status, "cancelled");
    const answered = await linesOf(batch.output_file_id);
    const left = await linesOf(batch.error_file_id);
    assertEquals(answered.length + left.length, 41);
    assert(answered.length >= 1 && left.length >= 1);
    for (const { error } of left) assertEquals(error?.code, "batch_cancelled");
    assertEquals((await money()).held, NO_MONEY.held);
    const again = await assertRejects(() => client.batches.cancel(created.id), OpenAI.APIError);
    assertEquals(again.status, 409);
  });
});

Deno.test("batches: another key gets 404, lists have pages, and keys are limited by batch and by line", async () => {
  await withStage({}, async ({ create, client, ended, admin, gateway, store }) => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await create([chat("a", "Hello")])).id);
    const listed: string[] = [];
    for await (const { id } of client.batches.list({ limit: 2 })) listed.push(id);
    assertEquals(listed, ids.toReversed());
    for (const id of ids) await ended(id);
    const keyOf = async (limits: object) => {
      const { json } = await admin("POST", "/admin/v1/accounts/demo/keys", limits);
      return clientOf(gateway.address, json.secret);
    };
    const other = await keyOf({ name: "other" });
    await assertRejects(() => other.batches.retrieve(ids[0] ?? ""), OpenAI.NotFoundError);
    await assertRejects(() => other.batches.cancel(ids[0] ?? ""), OpenAI.NotFoundError);
    assertEquals((await other.batches.list()).data, []);
    const fields = { endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
    const foreign = { input_file_id: await store([chat("a", "Hello")]), ...fields };
    await assertRejects(() => other.batches.create(foreign), OpenAI.NotFoundError);
    const noBatches = await keyOf({ name: "texts", endpoints: ["chat_completions"] });
    await assertRejects(() => noBatches.batches.list(), OpenAI.PermissionDeniedError);
    const noChats = await keyOf({ name: "batches", endpoints: ["batches", "files"] });
    await assertRejects(() => noChats.batches.create(foreign), OpenAI.PermissionDeniedError);
  });
});

Deno.test("batches: what the lines of a batch were held for is free in the budget of its key when they are charged", async () => {
  await withStage({}, async ({ admin, gateway }) => {
    const fields = {
      endpoint: "/v1/chat/completions",
      requests: [{
        custom_id: "a",
        body: { model: "sandbox/chat-1", max_tokens: 500, messages: [{ role: "user", content: "Hello" }] },
      }],
    };
    const trial = await callerOf(gateway.address, { authorization: `Bearer ${gateway.key}` })(
      "POST",
      "/v1/batches",
      fields,
      { "x-service-dry-run": "true" },
    );
    const amount = (1.5 * Number(trial.json.estimate.batch_cost)).toFixed(10);
    const { json: key } = await admin("POST", "/admin/v1/accounts/demo/keys", { budget: { amount, per: "day" } });
    const call = callerOf(gateway.address, { authorization: `Bearer ${key.secret}` });
    for (let n = 0; n < 3; n++) {
      const { json, status, text } = await call("POST", "/v1/batches", fields);
      assertEquals(status, 202, text);
      await stateOf(
        "the batch has ended",
        async () => (await call("GET", `/v1/batches/${json.id}`)).json.status,
        (state) => state === "completed",
      );
    }
  });
});

Deno.test("batches: requests in the create, in the form of OpenRouter, with a webhook at the end", async () => {
  await withStage({}, async ({ call, admin, ended, linesOf }) => {
    const { json: receiver } = await admin("POST", "/admin/v1/webhook-receivers", { account: "demo", minutes: 5 });
    const { status, json } = await call("POST", "/v1/batches", {
      endpoint: "/v1/chat/completions",
      model: "sandbox/chat-1",
      requests: [
        { custom_id: "a", body: { messages: [{ role: "user", content: 'One, "two"],' }], max_tokens: 50 } },
        { custom_id: "b", body: { model: "sandbox/messages-1", messages: [{ role: "user", content: "Three" }] } },
      ],
      callback_url: receiver.url,
    });
    assertEquals([status, json.input_file_id], [202, null]);
    const batch = await ended(json.id);
    assertEquals(batch.status, "completed");
    assertEquals((await linesOf(batch.output_file_id)).length, 2);
    const read = async () => (await admin("GET", `/admin/v1/webhook-receivers/${receiver.id}`)).json.data;
    const [{ body, headers, verified }] = await stateOf("the event has arrived", read, (data) => data?.length > 0);
    const event = JSON.parse(body);
    assertEquals(verified, true);
    assertEquals([event.event, event.id, event.data.status], ["batch.completed", batch.id, "completed"]);
    assertEquals(headers["x-service-idempotency-key"], `${batch.id}-completed`);
  });
});

Deno.test("batches: OpenAI's client reads the event of an account with its webhook format", async () => {
  await withStage({}, async ({ call, admin, ended }) => {
    const secret = (await admin("POST", "/admin/v1/accounts/demo/webhook-secret")).json.webhook_secret;
    const changed = await admin("PATCH", "/admin/v1/accounts/demo", { webhook_format: "openai" });
    assertEquals(changed.json.webhook_format, "openai");
    assertEquals((await admin("PATCH", "/admin/v1/accounts/demo", { webhook_format: "other" })).status, 400);
    const { json: receiver } = await admin("POST", "/admin/v1/webhook-receivers", { account: "demo", minutes: 5 });
    const { json } = await call("POST", "/v1/batches", {
      endpoint: "/v1/chat/completions",
      requests: [{ custom_id: "a", body: { model: "sandbox/chat-1", messages: [{ role: "user", content: "Hi" }] } }],
      callback_url: receiver.url,
    });
    const batch = await ended(json.id);
    const deadline = performance.now() + 60_000;
    let data;
    do ({ json: { data } } = await admin("GET", `/admin/v1/webhook-receivers/${receiver.id}`)); while (
      data.length === 0 && performance.now() < deadline
    );
    const [{ body, headers, verified }] = data;
    assertEquals(verified, true);
    const client = new OpenAI({ apiKey: "unused" });
    const { id, created_at, ...event } = await client.webhooks.unwrap(body, headers, secret);
    assertEquals(event, { object: "event", type: "batch.completed", data: { id: batch.id } });
    assertEquals([id, created_at], [batch.id.replace("batch_", "evt_"), batch.completed_at]);
    const reset = await admin("PATCH", "/admin/v1/accounts/demo", { webhook_format: null });
    assertEquals(reset.json.webhook_format, "service");
  });
});

Deno.test("batches: a dry run checks and prices the lines, and stores, holds and sends nothing", async () => {
  await withStage({}, async ({ call, store, client, money }) => {
    const body = {
      input_file_id: await store([chat("a", "Hello"), chat("b", "Hello")]),
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    };
    const trial = await call("POST", "/v1/batches", body, { "x-service-dry-run": "true" });
    assertEquals([trial.status, trial.json.dry_run, trial.json.estimate.requests], [200, true, 2], trial.text);
    assert(trial.json.estimate.cost >= 2 * 50 * Number(PRICING.completion));
    const { batch_cost: estimate } = trial.json.estimate;
    assertEquals(trial.json.service_batch, { mode: "emulated", estimate });
    assertEquals((await client.batches.list()).data, []);
    assertEquals(await money(), { balance: "25.0000000000", ...NO_MONEY });
  });
});

Deno.test("batches: wrong creates are refused with the field", async () => {
  await withStage({}, async ({ call, store }) => {
    const body = {
      input_file_id: await store([chat("a", "Hello")]),
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    };
    const cases: [Record<string, unknown>, string][] = [
      [{ endpoint: "/v1/rerank" }, "endpoint"],
      [{ completion_window: "1h" }, "completion_window"],
      [{ requests: [{}] }, "input_file_id"],
      [{ input_file_id: undefined }, "input_file_id"],
      [{ input_file_id: undefined, requests: [] }, "requests"],
      [{ metadata: { a: 1 } }, "metadata.a"],
      [{ callback_url: "http://example.com" }, "callback_url"],
      [{ output_expires_after: { anchor: "created_at", seconds: 1 } }, "expires_after.seconds"],
    ];
    for (const [fields, field] of cases) {
      const { status, json } = await call("POST", "/v1/batches", { ...body, ...fields });
      assertEquals([status, json.error?.param], [400, field]);
    }
    const { status } = await call("POST", "/v1/batches", { ...body, input_file_id: `file-${"0".repeat(28)}` });
    assertEquals(status, 404);
  });
});
