import { assert, assertEquals } from "@std/assert";
import { atLeast, itemAt } from "../../support/items.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";
import { untilSo } from "../../support/patience.ts";

const gateway = await startVideoGateway({
  config: {
    server: { port: 0, admin_key: "an-admin-key-of-this-test", shutdown_grace: 1, base_url: "https://gate.example" },
  },
  limits: { vendor_polling: { first: 3_600, least: 3_600, most: 3_600 } },
});
const id = await gateway.create();
await untilSo(() => gateway.created().length !== 0);
const { callback_url } = itemAt(gateway.created(), 0).body as { callback_url: string };
const address = callback_url.replace("https://gate.example", gateway.address);

const post = async (to: string, body: unknown = { status: "failed" }) => {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(to, init);
  return { status: answer.status, body: await answer.json() };
};

Deno.test("POST /v1/video-callbacks returns the same for an unknown task and a wrong token", async () => {
  const wrong = address.replace(/.{4}$/, "AAAA");
  const unknown = address.replace(id, "01a3185c-5000-7000-a16d-4b3a4e050490");
  const answers = [wrong, unknown, itemAt(address.split("?"), 0), `${address}&x=1`, address.replace(id, "x")];
  const [first, ...others] = atLeast(await Promise.all(answers.map((each) => post(each))), 1);
  assertEquals([first.status, first.body.error.code], [404, "not_found"]);
  for (const other of others) assertEquals(other, first);
});

Deno.test("POST /v1/video-callbacks returns the challenge with which a vendor verifies the address", async () => {
  assertEquals(await post(address, { challenge: "c0ffee" }), { status: 200, body: { challenge: "c0ffee" } });
  for (const body of [{ challenge: 7 }, { challenge: "" }, { challenge: "x".repeat(5_000) }, ["challenge"], "", null]) {
    assertEquals(await post(address, body), { status: 200, body: {} });
  }
  assertEquals((await post(address.replace(/.{4}$/, "AAAA"), { challenge: "c0ffee" })).status, 404);
});

Deno.test("POST /v1/video-callbacks causes a poll and does not trust its body", async () => {
  await post(address, { id, status: "failed", error: { message: "a lie" } });
  const task = await gateway.until(id, "completed", "failed");
  assertEquals([task.status, task.error], ["completed", undefined]);
  const token = new URL(address).searchParams.get("token")!;
  assert(!gateway.logLines.some((line) => line.includes(token)), "no token is logged");
});

Deno.test({ name: "vendor callbacks: the gateway stops", fn: () => gateway.stop(), sanitizeResources: false });
