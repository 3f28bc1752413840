import { assertEquals } from "@std/assert";
import { SAMPLE_VIDEO } from "../../../src/sandbox/families/sample_video.ts";
import { ALL_MODES, startVideoGateway } from "../../support/video_gateway.ts";
import { stateOf } from "../../support/patience.ts";

const vendor = await startVideoGateway();
const gateway = await startVideoGateway({
  config: {
    providers: { google: { kind: "google", base_url: vendor.sandbox.baseUrls.google, api_key: "sandbox-key-google" } },
    models: [{
      id: "google/omni",
      video: {
        modes: ALL_MODES,
        price_per_second: { default: "0.10" },
        audio: "always",
        duration: { min: 3, max: 10 },
      },
      serves: [{ provider: "google" }],
    }],
  },
});
const { call, create, until } = gateway;
const QUICK = "A lighthouse [[queue 0]] [[run 0]]";

/** Returns the bytes at an address of the gateway. */
async function bytesAt(url: unknown): Promise<Uint8Array> {
  const response = await fetch(String(url));
  assertEquals(response.status, 200);
  return new Uint8Array(await response.arrayBuffer());
}

for (const [what, directive] of [["a file that needs the key", ""], ["bytes in the answer", "[[inline]]"]]) {
  Deno.test(`Gemini Omni: a result that is ${what} is available from the gateway`, async () => {
    const id = await create({ model: "google/omni", prompt: `${QUICK} ${directive}`, duration: 4 });
    const task = await until(id, "completed", "failed");
    assertEquals([task.status, task.provider], ["completed", "google"]);
    const [mirror] = task.mirror_urls as string[];
    assertEquals(await bytesAt(mirror), SAMPLE_VIDEO);
    assertEquals((task.usage as { video_cost: string }).video_cost, "0.4000000000");
  });
}

Deno.test("Gemini Omni: a rejection reported as success is a failure and costs nothing", async () => {
  const before = await gateway.money();
  const id = await create({ model: "google/omni", prompt: `${QUICK} [[refuse]]` });
  const task = await until(id, "completed", "failed");
  assertEquals([task.status, (task.error as { code: string }).code], ["failed", "content_policy_violation"]);
  assertEquals(await gateway.money(), before);
});

Deno.test("Gemini Omni: a running task can be cancelled", async () => {
  const id = await create({ model: "google/omni", prompt: "A lighthouse [[queue 0]] [[never]]" });
  // It may be being submitted.
  const cancel = () => call("DELETE", `/v1/videos/${id}`);
  const { json } = await stateOf("the cancel is accepted", cancel, ({ status }) => status === 200);
  assertEquals(json.status, "cancelled");
});

Deno.test({
  name: "the gateways of the Gemini Omni tests stop",
  async fn() {
    await gateway.stop();
    await vendor.stop();
  },
  sanitizeResources: false,
  sanitizeOps: false,
});
