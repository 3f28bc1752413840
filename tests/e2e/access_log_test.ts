import { assert, assertEquals, assertMatch } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { stateOf } from "../support/patience.ts";

const gateway = await startTestGateway({
  config: {
    models: [
      textModel("sandbox/chat-1", ["sandbox-openai"]),
      { ...textModel("a/first", ["sandbox-openai"]), fallbacks: ["b/second"] },
      textModel("b/second", ["sandbox-anthropic"]),
    ],
  },
});

interface Line {
  readonly [field: string]: unknown;
}

function linesOf(requestId: string | null): Line[] {
  return gateway.logLines.map((line) => JSON.parse(line)).filter((line) =>
    line.event === "request" && line.requestId === requestId
  );
}

/** Waits for the line of a request, which is written when its response and its charge have ended. */
async function lineOf(response: Response): Promise<Line> {
  const requestId = response.headers.get("x-service-request-id");
  const lines = await stateOf(`${requestId} is in the log`, () => linesOf(requestId), ({ length }) => length > 0);
  return itemAt(lines, 0);
}

function ask(text: string, fields: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: text }], ...fields }),
    signal: signal ?? null,
  });
}

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });
}

test("the line of a text request has its account, key, model, provider, tokens and cost", async () => {
  for (const stream of [false, true]) {
    const response = await ask("hello", { stream });
    await response.text();
    const line = await lineOf(response);
    const { accountId, model, provider, status, state, kind, protocol } = line;
    assertEquals(
      [accountId, model, provider, status, state, kind, protocol],
      ["demo", "sandbox/chat-1", "sandbox-openai", 200, "completed", "text", "default"],
    );
    assertMatch(String(line.keyId), /^key_/);
    assertMatch(String(line.cost), /^0\.0000\d+$/);
    assert(Number(line.inputTokens) > 0 && Number(line.outputTokens) > 0);
    assert(Number(line.firstByteMs) <= Number(line.durationMs));
  }
});

test("the line of a request that a fallback served has the model and the provider that served it", async () => {
  const response = await ask("[[openai: fail 503]] hello", { model: "a/first" });
  await response.text();
  const { model, provider, status } = await lineOf(response);
  assertEquals([model, provider, status], ["b/second", "sandbox-anthropic", 200]);
});

test("the line of a large request, which a thread answers, is the same", async () => {
  for (const stream of [false, true]) {
    const response = await ask("hello", { stream, metadata: { note: "x".repeat(2_100_000) } });
    await response.text();
    const { accountId, model, provider, status, state } = await lineOf(response);
    assertEquals(
      [accountId, model, provider, status, state],
      ["demo", "sandbox/chat-1", "sandbox-openai", 200, "completed"],
    );
  }
});

test("a stream that its caller leaves has one line, with what was charged", async () => {
  const controller = new AbortController();
  const response = await ask("[[pause 600000]] one two three four", { stream: true }, controller.signal);
  const reader = response.body!.getReader();
  await reader.read();
  controller.abort();
  await reader.cancel().catch(() => {});
  const line = await lineOf(response);
  assertMatch(String(line.state), /^left/);
  assert(Number(line.cost) > 0);
  assertEquals(linesOf(response.headers.get("x-service-request-id")).length, 1);
});

test("failures have a line with their code, and no cost", async () => {
  const failed = await ask("[[fail 500]] hello");
  await failed.text();
  const line = await lineOf(failed);
  assertEquals([line.status, line.code, line.cost, line.model], [502, "upstream_error", undefined, "sandbox/chat-1"]);
  const unknown = await ask("hello", { model: "no/such" });
  await unknown.text();
  const { status, code, accountId } = await lineOf(unknown);
  assertEquals([status, code, accountId], [404, "model_not_found", "demo"]);
});

test("requests of monitoring have no line", async () => {
  for (const path of ["/healthz", "/readyz"]) {
    const response = await fetch(`${gateway.address}${path}`);
    await response.text();
    assertEquals(linesOf(response.headers.get("x-service-request-id")), []);
  }
});
