import { longTest } from "../support/long_test.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { atLeast, itemAt } from "../support/items.ts";
import { startVideoGateway } from "../support/video_gateway.ts";
import { ROOT } from "../webhooks/certificates.ts";
import { type Received, type Receiver, respondWith, sendText, startReceiver } from "../webhooks/receiver.ts";
import { stateOf, untilSo } from "../support/patience.ts";

const SECRET = "whsec_c3dpdGNoeWFyZCBzYXlzIGl0IGlzIGl0c2VsZg==";
const caFile = await Deno.makeTempFile();
await Deno.writeTextFile(caFile, ROOT);
const gateway = await startVideoGateway({
  config: { egress: { allow: ["127.0.0.1/32"], ca_file: caFile } },
});
const { call, create, until } = gateway;
const admin = { authorization: `Bearer ${gateway.adminKey}` };
const { json: rotated } = await call("POST", "/admin/v1/accounts/demo/webhook-secret", {}, admin);
const secret: string = rotated.webhook_secret;

/** A receiver that answers with these statuses in turn; the last one repeats. */
function receiverOf(...statuses: number[]): Receiver {
  let turn = 0;
  return startReceiver((request, connection) => {
    const status = itemAt(statuses, Math.min(turn++, statuses.length - 1));
    return respondWith(status)(request, connection);
  });
}

const addressOf = ({ port }: Receiver) => `https://127.0.0.1:${port}/hook?who=me`;
const textOf = ({ body }: Received) => new TextDecoder().decode(body);

async function whenReceived(receiver: Receiver, count: number): Promise<void> {
  await untilSo(() => receiver.received.length >= count);
}

/** The only delivery of a task once it is in this state. */
async function deliveryOf(id: string, state: string) {
  const read = async () => (await call("GET", `/v1/videos/${id}/deliveries`)).json.data[0];
  return await stateOf(`the delivery of ${id} is ${state}`, read, (delivery) => delivery?.state === state);
}

const ENDS: readonly [status: string, prompt: string][] = [
  ["completed", "A lighthouse [[queue 0]] [[run 0]]"],
  ["failed", "A lighthouse [[queue 0]] [[run 0]] [[refuse]]"],
  ["expired", "A lighthouse [[queue 0]] [[run 0]] [[expire]]"],
  ["cancelled", "A lighthouse [[queue 600000]]"],
];

for (const [status, prompt] of ENDS) {
  Deno.test(`the end of a task as ${status} is delivered once: the body of GET, under the event's name, signed`, async () => {
    const receiver = receiverOf(204);
    const metadata = { order: "A-17" };
    const id = await create({ prompt, callback_url: addressOf(receiver), metadata });
    if (status === "cancelled") await call("DELETE", `/v1/videos/${id}`);
    await whenReceived(receiver, 1);
    const request = itemAt(receiver.received, 0);
    const { mirror_urls, ...task } = (await call("GET", `/v1/videos/${id}`)).json;
    const { data: { mirror_urls: told, ...data }, ...envelope } = JSON.parse(textOf(request));
    assertEquals(envelope, { event: `video.generation.${status}`, id, created_at: task.updated_at });
    assertEquals([data, told.length, data.status, data.metadata], [
      task,
      mirror_urls.length,
      status,
      metadata,
    ]);
    assertEquals(request.headers.get("x-service-idempotency-key"), `${id}-${status}`);
    const signature = createHmac("sha256", secret).update(request.body).digest("base64url");
    assertEquals(request.headers.get("x-service-signature"), signature);
    new Webhook(secret).verify(textOf(request), Object.fromEntries(request.headers));
    const delivery = await deliveryOf(id, "delivered");
    assertEquals([delivery.id, delivery.event, delivery.next_attempt_at], [
      `${id}-${status}`,
      `video.generation.${status}`,
      null,
    ]);
    assertEquals(delivery.attempts.map((each: { outcome: string; status: number }) => [each.outcome, each.status]), [
      ["acknowledged", 204],
    ]);
    assertEquals(receiver.received.length, 1);
    await receiver.stop();
  });
}

longTest("retries come 5 and 10 s after the failures before them, with the same key and bytes", async () => {
  const receiver = receiverOf(500, 410, 200);
  const id = await create({ callback_url: addressOf(receiver) });
  await deliveryOf(id, "delivered");
  const [first, second, third] = atLeast(receiver.received, 3);
  const gaps = [second.at - first.at, third.at - second.at];
  // The jitter is at most a tenth; two seconds are for a busy machine.
  assert(
    itemAt(gaps, 0) >= 4_990 && itemAt(gaps, 0) < 7_500 && itemAt(gaps, 1) >= 9_990 && itemAt(gaps, 1) < 13_000,
    `after ${gaps} ms`,
  );
  assertEquals([textOf(second), textOf(third)], [textOf(first), textOf(first)]);
  const keys = receiver.received.map(({ headers }) => headers.get("x-service-idempotency-key"));
  assertEquals(new Set(keys).size, 1);
  const { attempts } = await deliveryOf(id, "delivered");
  assertEquals(attempts.map((each: { failure: string | null }) => each.failure), ["status", "status", null]);
  await receiver.stop();
});

Deno.test("POST …/deliveries delivers once more, and answers 409 while a delivery is pending", async () => {
  const receiver = receiverOf(200, 503);
  const id = await create({ callback_url: addressOf(receiver) });
  await deliveryOf(id, "delivered");
  const again = await call("POST", `/v1/videos/${id}/deliveries`);
  assertEquals([again.status, again.json.state], [202, "pending"]);
  await whenReceived(receiver, 2);
  const early = await call("POST", `/v1/videos/${id}/deliveries`);
  assertEquals([early.status, early.json.error.code], [409, "conflict"]);
  assertEquals(textOf(itemAt(receiver.received, 1)), textOf(itemAt(receiver.received, 0)));
  await receiver.stop();
});

Deno.test("deliveries are readable and requested with the task's own credential only", async () => {
  const receiver = receiverOf(200);
  const id = await create({ callback_url: addressOf(receiver) });
  await deliveryOf(id, "delivered");
  const foreign = { authorization: `Bearer ${gateway.otherKey}` };
  for (const method of ["GET", "POST"]) {
    for (const [name, headers] of [[id, foreign], [crypto.randomUUID(), {}], ["abc", {}]] as const) {
      const { status, json } = await call(method, `/v1/videos/${name}/deliveries`, undefined, headers);
      assertEquals([status, json.error.code], [404, "not_found"]);
    }
  }
  await receiver.stop();
});

Deno.test("a task without callback_url has no deliveries, and none can be requested", async () => {
  const id = await create();
  await until(id, "completed");
  assertEquals((await call("GET", `/v1/videos/${id}/deliveries`)).json, { object: "list", data: [] });
  assertEquals((await call("POST", `/v1/videos/${id}/deliveries`)).status, 404);
});

Deno.test("an operator finds a delivery by time, without the query of its URL", async () => {
  const receiver = receiverOf(200);
  const id = await create({ callback_url: addressOf(receiver) });
  await deliveryOf(id, "delivered");
  const { json } = await call("GET", "/admin/v1/deliveries?state=delivered&limit=100", undefined, admin);
  const found = json.data.find(({ task }: { task: string }) => task === id);
  assertEquals([found.account, found.url], ["demo", `https://127.0.0.1:${receiver.port}/hook`]);
  assertEquals((await call("GET", "/admin/v1/deliveries")).status, 401);
  await receiver.stop();
});

Deno.test("a receiver that drips its response or redirects is retried, one that answers 2xx and drips is not", async () => {
  const redirecting = startReceiver(respondWith(307, { location: "https://169.254.169.254/" }));
  const dripping = startReceiver(async (_request, connection) => {
    await sendText(connection, "HTTP/1.1 202 Accepted\r\ncontent-length: 1000\r\n\r\n");
    for (;;) {
      await sendText(connection, ".");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  const [away, slow] = atLeast(
    await Promise.all(
      [redirecting, dripping].map((receiver) => create({ callback_url: addressOf(receiver) })),
    ),
    2,
  );
  await whenReceived(redirecting, 1);
  assertEquals((await deliveryOf(slow, "delivered")).attempts.length, 1);
  let attempts: { failure: string }[] = [];
  while (attempts.length === 0) attempts = (await deliveryOf(away, "pending")).attempts;
  assertEquals(attempts[0]?.failure, "redirect");
  await Promise.all([redirecting.stop(), dripping.stop()]);
});

Deno.test("a forbidden callback_url is 400 invalid_callback_url, and no task is created", async () => {
  const strict = await startVideoGateway({ config: { egress: { allow: [] } } });
  const bad = [
    ...["http://example.com/", "ftp://example.com/", "javascript:alert(1)", "//host/x", "https:", "", 17, {}],
    `https://example.com/${"a".repeat(3_000)}`,
    ...[
      "user:pw@example.com",
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "①②⑦.0.0.1",
      "0",
      "[::]",
    ],
    ...["localhost", "a.localhost", "printer.local", "intranet", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1"],
    ...[
      "169.254.169.254",
      "168.63.129.16",
      "metadata.google.internal",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[64:ff9b::7f00:1]",
    ],
    ...["[2002:7f00:1::]", "[fe80::1]", "[fc00::1]", "224.0.0.1", "192.0.2.1", "93.184.216.34:22", "93.184.216.34:0"],
    strict.address.slice("http://".length),
  ].map((value) =>
    typeof value === "string" && /^(\[|[^:/]*$|.*@|[\d.]+:\d+$)/.test(value) && value ? `https://${value}/` : value
  );
  for (const callback_url of bad) {
    const { status, json } = await strict.call("POST", "/v1/videos", {
      model: "sandbox/video-1",
      prompt: "A lighthouse",
      callback_url,
    });
    assertEquals([callback_url, status, json.error.code], [callback_url, 400, "invalid_callback_url"]);
    assertMatch(json.error.message, /^Cannot use "callback_url": expected /);
  }
  assertEquals((await strict.call("GET", "/v1/videos")).json.data, []);
  await strict.stop();
});

Deno.test("no log line has a secret, a signature, a body or the query of a callback URL", () => {
  assert(gateway.logLines.some((line) => line.includes("webhook_delivered")));
  for (const word of [secret, SECRET, "lighthouse", "who=me", "v1,"]) {
    assertEquals(gateway.logLines.filter((line) => line.includes(word)), []);
  }
});

Deno.test({
  name: "the gateway of the webhook tests stops",
  fn: async () => {
    await gateway.stop();
    await Deno.remove(caFile);
  },
  sanitizeResources: false,
  sanitizeOps: false,
});
