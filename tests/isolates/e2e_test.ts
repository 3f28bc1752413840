import { assert, assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { eventually } from "../support/account_money.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { rawAnswer } from "../support/raw_http.ts";

const OWN = newApiKey();
const LIMITED = newApiKey();
const BUDGETED = newApiKey();

async function withIsolates(test: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const accounts = [
    { id: "demo", balance: "25.00", keys: [OWN] },
    { id: "limited", balance: "25.00", keys: [{ key: LIMITED, rpm: 3 }] },
    { id: "budgeted", balance: "0.000120", keys: [BUDGETED] },
  ];
  const gateway = await startTestGateway({ isolates: 2, config: { accounts } });
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
  }
}

/** Sends a request over a connection of its own, so that any isolate may get it. */
async function chat({ address }: TestGateway, key: string, extra: Record<string, unknown> = {}): Promise<Response> {
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const response = await fetch(`${address}/v1/chat/completions`, {
    client,
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "sandbox/chat-1",
      max_tokens: 10,
      messages: [{ role: "user", content: "hi" }],
      ...extra,
    }),
  });
  const text = await response.text();
  return new Response(text, { status: response.status, headers: response.headers });
}

async function admin({ address, adminKey }: TestGateway, method: string, path: string, body?: unknown) {
  const response = await fetch(`${address}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  });
  return { status: response.status, body: await response.json() };
}

function countOf(responses: readonly Response[], status: number): number {
  return responses.filter((response) => response.status === status).length;
}

Deno.test("isolates: requests at once do not pass a limit of rate together", async () => {
  await withIsolates(async (gateway) => {
    const responses = await Promise.all(Array.from({ length: 40 }, () => chat(gateway, LIMITED)));
    assertEquals([countOf(responses, 200), countOf(responses, 429)], [3, 37]);
    for (const { headers } of responses) assertEquals(headers.get("x-ratelimit-limit-requests"), "3");
    assert(responses.every(({ status, headers }) => status === 200 || Number(headers.get("retry-after")) > 0));
  });
});

Deno.test("isolates: requests at once do not spend more than the balance, and the ledger has each charge", async () => {
  await withIsolates(async (gateway) => {
    const responses = await Promise.all(Array.from({ length: 60 }, () => chat(gateway, BUDGETED)));
    const served = countOf(responses, 200);
    assert(served >= 1);
    assertEquals(served + countOf(responses, 402), 60);
    const { body: { balance } } = await admin(gateway, "GET", "/accounts/budgeted");
    assert(Number(balance) >= 0, balance);
    const { body: { data } } = await admin(gateway, "GET", "/accounts/budgeted/ledger?limit=100");
    // Charges of the same moment share an entry.
    const charged = data.flatMap(({ requests = [] }: { requests?: readonly unknown[] }) => requests);
    assertEquals(charged.length, served);
  });
});

Deno.test("isolates: a suspended account and a changed limit hold on all when the answer arrives", async () => {
  await withIsolates(async (gateway) => {
    const { body: { secret: key, id } } = await admin(gateway, "POST", "/accounts/demo/keys", { name: "ci" });
    const before = await Promise.all(Array.from({ length: 8 }, () => chat(gateway, key)));
    assertEquals(countOf(before, 200), 8);
    assertEquals((await admin(gateway, "PATCH", `/accounts/demo/keys/${id}`, { models: ["other/*"] })).status, 200);
    const restricted = await Promise.all(Array.from({ length: 8 }, () => chat(gateway, key)));
    assertEquals(countOf(restricted, 200), 0);
    assertEquals((await admin(gateway, "POST", "/accounts/demo/suspend")).status, 200);
    const suspended = await Promise.all(Array.from({ length: 8 }, () => chat(gateway, key)));
    assertEquals(countOf(suspended, 401), 8);
  });
});

Deno.test("isolates: other endpoints answer through the main thread, and records are counted once", async () => {
  await withIsolates(async (gateway) => {
    const health = await fetch(`${gateway.address}/healthz`);
    assertEquals([health.status, await health.text()], [200, "ok\n"]);
    const forged = await fetch(`${gateway.address}/admin/v1/accounts`, {
      headers: { "x-switchyard-relay": JSON.stringify({ token: "guessed", url: "http://x/healthz" }) },
    });
    assertEquals(forged.status, 401);
    await forged.body?.cancel();
    const response = await chat(gateway, LIMITED);
    const id = response.headers.get("x-service-request-id");
    const { body: { data } } = await admin(gateway, "GET", "/requests?account=limited");
    assertEquals(data.map((row: { id: string; status: number }) => [row.id, row.status]), [[id, 200]]);
  });
});

Deno.test("isolates: a body with many values is handed on, and is charged and recorded once", async () => {
  await withIsolates(async (gateway) => {
    const content = Array.from({ length: 12_000 }, () => ({ type: "text", text: "a" }));
    const response = await chat(gateway, OWN, { messages: [{ role: "user", content }] });
    assertEquals(response.status, 200, await response.clone().text());
    const id = response.headers.get("x-service-request-id");
    const { body: { data } } = await admin(gateway, "GET", "/requests?account=demo");
    assertEquals(data.map((row: { id: string; status: number }) => [row.id, row.status]), [[id, 200]]);
    const { body: { data: entries } } = await admin(gateway, "GET", "/accounts/demo/ledger?limit=100");
    assertEquals(entries.flatMap(({ requests = [] }: { requests?: readonly unknown[] }) => requests).length, 1);
  });
});

Deno.test("isolates: the reply to a body that is handed on is kept for its Idempotency-Key", async () => {
  await withIsolates(async (gateway) => {
    const content = Array.from({ length: 12_000 }, () => ({ type: "text", text: "a" }));
    const send = () =>
      fetch(`${gateway.address}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${OWN}`,
          "content-type": "application/json",
          "idempotency-key": "many-values",
        },
        body: JSON.stringify({ model: "sandbox/chat-1", max_tokens: 10, messages: [{ role: "user", content }] }),
      });
    const first = await send();
    const text = await first.text();
    assertEquals(first.status, 200, text);
    const repeated = await send();
    assertEquals([repeated.status, await repeated.text()], [200, text]);
    assertEquals(repeated.headers.get("idempotent-replayed"), "true");
    const { body: { data } } = await admin(gateway, "GET", "/requests?account=demo");
    const ids = data.map((row: { id: string }) => row.id);
    assert(ids.includes(first.headers.get("x-service-request-id")), String(ids));
  });
});

Deno.test("isolates: a refusal of the main thread closes the caller's connection, and has the field once", async () => {
  await withIsolates(async (gateway) => {
    const { port } = new URL(gateway.address);
    const head = `POST /v1/videos HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${OWN}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 900000000\r\n\r\n";
    const answer = await rawAnswer(Number(port), head);
    assertEquals([answer.status, answer.headers.get("connection")], [413, "close"]);
  });
});

Deno.test("isolates: a stop lets an open stream end", async () => {
  const gateway = await startTestGateway({ config: { server: { port: 0, isolates: 2, shutdown_grace: 60 } } });
  const response = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "sandbox/chat-1",
      stream: true,
      messages: [{ role: "user", content: "[[pause 20]] one two three four five" }],
    }),
  });
  const text = response.text();
  await gateway.stop();
  assert((await text).endsWith("data: [DONE]\n\n"));
});

Deno.test("isolates: the metrics have the open streams and the memory of all threads", async () => {
  await withIsolates(async (gateway) => {
    const valueOf = async (name: string) => {
      const headers = { authorization: `Bearer ${gateway.adminKey}` };
      const text = await (await fetch(`${gateway.address}/metrics`, { headers })).text();
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    };
    const streams = await Promise.all(Array.from({ length: 6 }, async () => {
      const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
      const response = await fetch(`${gateway.address}/v1/chat/completions`, {
        client,
        method: "POST",
        headers: { authorization: `Bearer ${OWN}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: "sandbox/chat-1",
          stream: true,
          messages: [{ role: "user", content: "[[gap 600000]] one two three" }],
        }),
      });
      return { client, response };
    }));
    await eventually(async () => await valueOf("switchyard_open_streams") === 6);
    assert(await valueOf("switchyard_memory_budget_bytes") > 0);
    for (const { client, response } of streams) {
      await response.body?.cancel();
      client.close();
    }
    await eventually(async () => await valueOf("switchyard_open_streams") === 0);
  });
});
