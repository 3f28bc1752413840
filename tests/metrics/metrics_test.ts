import { assert, assertEquals, assertMatch } from "@std/assert";
import { callerOf } from "../support/gateway_call.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";

async function withGateway(run: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startTestGateway({
    config: {
      models: [
        textModel("sandbox/chat-1", ["sandbox-openai"]),
        { ...textModel("a/first", ["sandbox-openai"]), fallbacks: ["b/second"] },
        textModel("b/second", ["sandbox-anthropic"]),
      ],
    },
  });
  try {
    await run(gateway);
  } finally {
    await gateway.stop();
  }
}

async function ask(gateway: TestGateway, text: string, fields: Record<string, unknown> = {}): Promise<Response> {
  const response = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: text }], ...fields }),
  });
  await response.clone().text();
  return response;
}

async function metricsOf(gateway: TestGateway): Promise<string> {
  const response = await fetch(`${gateway.address}/metrics`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  });
  assertEquals(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return await response.text();
}

/** The value of the series whose labels include all of these; 0 if there is none. */
function valueOf(text: string, name: string, labels: Record<string, string> = {}): number {
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const found = lines.filter((line) =>
    Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`))
  );
  return found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

Deno.test("requests, tokens, cost and durations are counted by provider and model", async () => {
  await withGateway(async (gateway) => {
    await ask(gateway, "hello");
    await ask(gateway, "hello", { stream: true });
    const text = await metricsOf(gateway);
    const labels = { endpoint: "/v1/chat/completions", provider: "sandbox-openai", model: "sandbox/chat-1" };
    assertEquals(valueOf(text, "switchyard_requests_total", { ...labels, status: "200", code: "" }), 2);
    assertEquals(valueOf(text, "switchyard_call_ends_total", { ...labels, end: "completed" }), 2);
    assertEquals(valueOf(text, "switchyard_request_duration_seconds_count", labels), 2);
    assertEquals(valueOf(text, "switchyard_request_duration_seconds_bucket", { ...labels, le: "+Inf" }), 2);
    assertEquals(valueOf(text, "switchyard_first_byte_seconds_count", labels), 2);
    const input = valueOf(text, "switchyard_tokens_total", { ...labels, type: "input" });
    const output = valueOf(text, "switchyard_tokens_total", { ...labels, type: "output" });
    assert(input > 0 && output > 0);
    const cost = valueOf(text, "switchyard_cost_usd_total", labels);
    assert(Math.abs(cost - (input + 2 * output) / 1e6) < 1e-12, `${cost}`);
    assertEquals(valueOf(text, "switchyard_attempts_total", { provider: "sandbox-openai", outcome: "ok" }), 2);
  });
});

Deno.test("failures are counted by code, fallbacks by the failed provider, and unknown paths by no endpoint", async () => {
  await withGateway(async (gateway) => {
    await ask(gateway, "[[openai: fail 503]] hello", { model: "a/first" });
    await ask(gateway, "hello", { model: "no/such" });
    await (await fetch(`${gateway.address}/no/such/path/${crypto.randomUUID()}`)).text();
    const text = await metricsOf(gateway);
    assertEquals(valueOf(text, "switchyard_fallbacks_total", { provider: "sandbox-openai" }), 1);
    assertEquals(valueOf(text, "switchyard_attempts_total", { provider: "sandbox-anthropic", outcome: "ok" }), 1);
    assertEquals(valueOf(text, "switchyard_requests_total", { model: "b/second", status: "200" }), 1);
    assertEquals(valueOf(text, "switchyard_requests_total", { code: "model_not_found", model: "" }), 1);
    assertEquals(valueOf(text, "switchyard_requests_total", { endpoint: "none", code: "not_found" }), 1);
  });
});

Deno.test("the state of the process and of the store is shown", async () => {
  await withGateway(async (gateway) => {
    await ask(gateway, "hello");
    const text = await metricsOf(gateway);
    for (
      const name of [
        "switchyard_ready",
        "switchyard_store_write_seconds_count",
        "switchyard_store_write_batch_size_count",
        "switchyard_memory_budget_limit_bytes",
        "process_resident_memory_bytes",
        "process_cpu_seconds_total",
      ]
    ) assert(valueOf(text, name) > 0, name);
    for (
      const name of [
        "switchyard_open_streams",
        "switchyard_log_lines_dropped_total",
        "switchyard_unhandled_total",
        "switchyard_webhook_attempts_total",
        "switchyard_event_loop_lag_seconds_count",
        "switchyard_uptime_seconds",
        "switchyard_jobs",
        "switchyard_log_events_total",
      ]
    ) assertMatch(text, new RegExp(`^# TYPE ${name.replace(/_count$/, "")} `, "m"));
    assertEquals(valueOf(text, "switchyard_provider_state", { provider: "sandbox-openai", state: "ready" }), 1);
    for (const reason of ["queue", "anonymous", "bodies"]) {
      assertMatch(text, new RegExp(`^switchyard_request_log_dropped_total{reason="${reason}"} 0$`, "m"));
    }
  });
});

Deno.test("batches that are open, their lines by end, and the bytes of stored files are shown", async () => {
  const folder = await Deno.makeTempDir();
  const gateway = await startTestGateway({ config: { files: `${folder}/files` } });
  try {
    const call = callerOf(gateway.address, { authorization: `Bearer ${gateway.key}` });
    const line = (customId: string, content: string) => ({
      custom_id: customId,
      body: { model: "sandbox/chat-1", max_tokens: 9, messages: [{ role: "user", content }] },
    });
    const create = async (requests: readonly unknown[]): Promise<string> => {
      const batch = { endpoint: "/v1/chat/completions", completion_window: "24h", requests };
      return (await call("POST", "/v1/batches", batch)).json.id;
    };
    const done = await create([line("one", "Hi"), line("two", "Hi"), line("three", "[[fail 400 No]]")]);
    const deadline = performance.now() + 60_000;
    let batch;
    do batch = (await call("GET", `/v1/batches/${done}`)).json; while (
      batch.status !== "completed" && performance.now() < deadline
    );
    assertEquals(batch.status, "completed");
    await create([line("one", "[[stall 600000]]")]);
    const text = await metricsOf(gateway);
    assertEquals(valueOf(text, "switchyard_open_batches"), 1);
    for (const [end, count] of [["completed", 2], ["failed", 1], ["cancelled", 0], ["expired", 0]] as const) {
      assertEquals(valueOf(text, "switchyard_batch_lines_total", { end }), count, end);
    }
    const files = (await call("GET", "/v1/files")).json.data;
    assertEquals(valueOf(text, "switchyard_stored_files"), 2);
    const bytes = files.reduce((sum: number, file: { bytes: number }) => sum + file.bytes, 0);
    assertEquals(valueOf(text, "switchyard_stored_files_bytes"), bytes);
  } finally {
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("metrics need the admin key, and reading them is not counted", async () => {
  await withGateway(async (gateway) => {
    const refused = await fetch(`${gateway.address}/metrics`);
    assertEquals(refused.status, 401);
    await refused.text();
    await metricsOf(gateway);
    assertEquals(valueOf(await metricsOf(gateway), "switchyard_requests_total"), 0);
    assertEquals(gateway.logLines.filter((line) => line.includes('"request"')), []);
  });
});

for (const isolates of [1, 2]) {
  Deno.test(`countsRequests: false leaves the counts of requests out with isolates: ${isolates}, and nothing else`, async () => {
    for (const countsRequests of [true, false]) {
      const gateway = await startTestGateway({ isolates, countsRequests });
      try {
        assertEquals((await ask(gateway, "one")).status, 200);
        const metrics = await metricsOf(gateway);
        assertEquals(valueOf(metrics, "switchyard_requests_total"), countsRequests ? 1 : 0);
        assertEquals(valueOf(metrics, "switchyard_ready"), 1);
        assertEquals(gateway.logLines.filter((line) => line.includes('"request"')).length, 1);
      } finally {
        await gateway.stop();
      }
    }
  });
}
