import { assert, assertEquals } from "@std/assert";
import { Webhook } from "standardwebhooks";
import { listenForWebhooks } from "../../src/entry/cli/webhooks_listen.ts";
import { itemAt } from "../support/items.ts";
import { startVideoGateway } from "../support/video_gateway.ts";
import { respondWith, startReceiver } from "../webhooks/receiver.ts";

Deno.test("listenForWebhooks() prints new events, checks both signatures and forwards them", async () => {
  const gateway = await startVideoGateway();
  const admin = { authorization: `Bearer ${gateway.adminKey}` };
  const { json } = await gateway.call("POST", "/admin/v1/accounts/demo/webhook-secret", {}, admin);
  const secret: string = json.webhook_secret;
  const forwarded: { headers: Headers; body: string }[] = [];
  const application = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    forwarded.push({ headers: request.headers, body: await request.text() });
    return new Response(null, { status: 204 });
  });
  const receiver = startReceiver(respondWith(200)); // by a root that this gateway does not trust: nothing is delivered there
  const before = await gateway.create({ callback_url: `https://127.0.0.1:${receiver.port}/` });
  await gateway.until(before, "completed");

  const lines: string[] = [];
  const stop = new AbortController();
  const listening = listenForWebhooks({
    gateway: gateway.address,
    adminKey: gateway.adminKey,
    secretOf: () => secret,
    account: null,
    forward: `http://127.0.0.1:${application.addr.port}/hook`,
    print: (line) => void lines.push(line),
    signal: stop.signal,
    pollMs: 5,
  });
  while (!lines.some((line) => line.startsWith("Listening"))) await pause();
  const id = await gateway.create({ callback_url: `https://127.0.0.1:${receiver.port}/` });
  while (!lines.some((line) => line.includes("forwarded to"))) await pause();
  stop.abort();
  await listening;

  assertEquals(forwarded.length, 1, "earlier events are not shown");
  const { headers, body } = itemAt(forwarded, 0);
  assertEquals(new Webhook(secret).verify(body, Object.fromEntries(headers)), JSON.parse(body));
  assertEquals([JSON.parse(body).id, headers.get("x-service-idempotency-key")], [id, `${id}-completed`]);
  const text = lines.join("\n");
  for (const part of ["video.generation.completed of demo", "both signatures are valid", ": 204", `${id}-completed`]) {
    assert(text.includes(part), part);
  }
  assertEquals(receiver.received, []);
  await application.shutdown();
  await receiver.stop();
  await gateway.stop();
});

Deno.test("listenForWebhooks() reports an invalid signature, and unchecked ones without a secret", async () => {
  const gateway = await startVideoGateway();
  for (
    const [secret, word] of [["whsec_YW5vdGhlciBzZWNyZXQ=", "NOT VALID"], [null, "signatures not checked"]] as const
  ) {
    const lines: string[] = [];
    const stop = new AbortController();
    const listening = listenForWebhooks({
      gateway: gateway.address,
      adminKey: gateway.adminKey,
      secretOf: () => secret,
      account: null,
      forward: null,
      print: (line) => void lines.push(line),
      signal: stop.signal,
      pollMs: 5,
    });
    while (!lines.some((line) => line.startsWith("Listening"))) await pause();
    await gateway.create({ callback_url: "https://127.0.0.1:8443/" });
    while (!lines.some((line) => line.includes('"video.generation.completed"'))) await pause();
    stop.abort();
    await listening;
    assert(lines.some((line) => line.includes(word)), lines.join("\n"));
  }
  await gateway.stop();
});

Deno.test("listenForWebhooks() prints an error of the admin API once and continues", async () => {
  const gateway = await startVideoGateway();
  const lines: string[] = [];
  const stop = new AbortController();
  const listening = listenForWebhooks({
    gateway: gateway.address,
    adminKey: "not-the-admin-key",
    secretOf: () => null,
    account: null,
    forward: null,
    print: (line) => void lines.push(line),
    signal: stop.signal,
    pollMs: 5,
  });
  const refusals = () => gateway.logLines.filter((line) => line.includes("/admin/v1/events")).length;
  while (refusals() < 3) await pause();
  stop.abort();
  await listening;
  assertEquals(lines, ["! The admin API answered with status 401"]);
  await gateway.stop();
});

Deno.test("listenForWebhooks() shows only the events of the given account", async () => {
  const gateway = await startVideoGateway();
  const admin = { authorization: `Bearer ${gateway.adminKey}` };
  await gateway.call("POST", "/admin/v1/accounts", { id: "other" }, admin);
  const lines: string[] = [];
  const stop = new AbortController();
  const listening = listenForWebhooks({
    gateway: gateway.address,
    adminKey: gateway.adminKey,
    secretOf: () => null,
    account: "other",
    forward: null,
    print: (line) => void lines.push(line),
    signal: stop.signal,
    pollMs: 5,
  });
  while (lines.length === 0) await pause();
  for (const account of ["demo", "other"]) {
    const { status, json } = await gateway.call("POST", "/admin/v1/events", { event: "expired", account }, admin);
    assertEquals([status, json.heard], [201, true]);
  }
  while (!lines.some((line) => line.includes("of other"))) await pause();
  stop.abort();
  await listening;
  assert(!lines.some((line) => line.includes("of demo")));
  await gateway.stop();
});

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
