import { assertEquals, assertStringIncludes } from "@std/assert";
import { itemAt } from "../../support/items.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";
import { stateOf } from "../../support/patience.ts";

const gateway = await startVideoGateway();
const { call, create, until } = gateway;

async function admin(method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" };
  const init = { method, headers, ...body !== undefined && { body: JSON.stringify(body) } };
  const response = await fetch(`${gateway.address}/admin/v1/webhook-receivers${path}`, init);
  return { status: response.status, body: await response.json() };
}

async function openReceiver() {
  const { status, body } = await admin("POST", "", { account: "demo", minutes: 5 });
  assertEquals(status, 201);
  return body as { id: string; url: string };
}

interface Received {
  readonly verified: boolean;
  readonly via: string;
  readonly problem: string | null;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Waits until a receiver has got a number of events. */
async function eventsOf(id: string, count: number): Promise<readonly Received[]> {
  const read = async () => (await admin("GET", `/${id}`)).body.data;
  return await stateOf(`${count} events have arrived`, read, ({ length }) => length >= count);
}

Deno.test("an event whose callback_url is an open receiver arrives there, signed, without a connection", async () => {
  const { id, url } = await openReceiver();
  const task = await create({ callback_url: url });
  await until(task, "completed");
  const event = itemAt(await eventsOf(id, 1), 0);
  assertEquals([event.verified, event.via, event.problem], [true, "gateway", null]);
  assertStringIncludes(event.body, task);
  assertEquals(event.headers["x-service-idempotency-key"], `${task}-completed`);
  await admin("DELETE", `/${id}`);
});

Deno.test("the address of a closed receiver is one of the gateway, which callers may not name", async () => {
  const { id, url } = await openReceiver();
  const withCallback = (callback_url: string) =>
    call("POST", "/v1/videos", { model: "sandbox/video-1", prompt: "A lighthouse", callback_url });
  for (const other of [`${url}x`, `${url}?a=1`, `${gateway.address}/healthz`]) {
    assertEquals((await withCallback(other)).json.error.code, "invalid_callback_url", other);
  }
  assertEquals((await admin("DELETE", `/${id}`)).status, 200);
  assertEquals((await withCallback(url)).json.error.code, "invalid_callback_url");
  assertEquals((await admin("GET", `/${id}`)).status, 404);
  assertEquals(await fetch(url, { method: "POST", body: "{}" }).then((it) => it.text().then(() => it.status)), 404);
});

Deno.test("what arrives over the network is shown with the reason why it is not verified, without its credentials", async () => {
  const { id, url } = await openReceiver();
  const post = async (headers: Record<string, string>, body: string) => {
    const response = await fetch(url, { method: "POST", headers, body });
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await post({ authorization: "Bearer secret", cookie: "a=b" }, "<script>"), 200);
  assertEquals(await post({ "x-service-signature": "wrong" }, "{}"), 200);
  assertEquals(await post({}, "x".repeat(65_537)), 413);
  assertEquals((await admin("POST", `/${id}/test`)).status, 201);
  const [tested, wrong, unsigned] = await eventsOf(id, 3);
  assertEquals([tested?.verified, wrong?.verified, unsigned?.verified], [true, false, false]);
  assertEquals(unsigned?.problem, "It has no signature");
  assertStringIncludes(wrong?.problem ?? "", "X-Service-Signature");
  assertEquals([unsigned?.via, JSON.stringify(unsigned?.headers).includes("secret")], ["network", false]);
  await admin("DELETE", `/${id}`);
});

Deno.test("few receivers are open at a time, each for an account that exists", async () => {
  assertEquals((await admin("POST", "", { account: "nobody" })).status, 404);
  assertEquals((await admin("POST", "", { account: "demo", minutes: 31 })).body.error.field, "minutes");
  const opened = [];
  for (let count = 0; count < 5; count++) opened.push(await openReceiver());
  assertEquals((await admin("POST", "", { account: "demo" })).status, 409);
  assertEquals((await admin("GET", "")).body.data.length, 5);
  for (const { id } of opened) await admin("DELETE", `/${id}`);
  const audit = await fetch(`${gateway.address}/admin/v1/audit?limit=100`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  });
  const text = await audit.text();
  assertStringIncludes(text, "/admin/v1/webhook-receivers");
  await gateway.stop();
});
