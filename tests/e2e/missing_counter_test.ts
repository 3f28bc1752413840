import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { assert, assertEquals } from "@std/assert";
import { ShiftedClock } from "../caches/shifted_clock.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { answer, type ScriptedUpstream, startScriptedUpstream } from "../support/scripted_upstream.ts";

const HOST = "127.0.0.1";
const ASKING = { model: "a/one", messages: [{ role: "user" as const, content: "How many tokens are these words?" }] };

/** Errors by which vendors that resemble the Messages API report a missing counter. */
const REFUSALS: readonly [status: number, body: string][] = [
  [404, ""],
  [404, "404 page not found"],
  [404, '{"detail":"Not Found"}'],
  [404, '{"type":"error","error":{"type":"not_found_error","message":"Not found"}}'],
  [404, '{"error":{"message":"Unknown request URL: POST /v1/messages/count_tokens","type":"invalid_request_error"}}'],
  [405, '{"detail":"Method Not Allowed"}'],
  [501, '{"error":{"message":"not implemented"}}'],
];

/** A vendor that gives every request the same response. */
function vendorThatSays(status: number, body: string): ScriptedUpstream {
  return startScriptedUpstream(async (side) => {
    while (await side.request() !== null) await side.say(answer(status, body));
  });
}

async function gatewayBefore(vendor: ScriptedUpstream, clock?: ShiftedClock) {
  const base_url = `http://${HOST}:${vendor.port}`;
  const gateway = await startTestGateway({
    ...(clock && { clock }),
    config: {
      providers: {
        one: { kind: "anthropic", base_url, api_key: "key-one" },
        goo: { kind: "google", base_url, api_key: "key-goo" },
      },
      models: [textModel("a/one", ["one"]), textModel("a/two", ["one"]), textModel("a/goo", ["goo"])],
    },
  });
  const client = new Anthropic({ baseURL: `${gateway.address}/msgcompat`, apiKey: gateway.key, maxRetries: 0 });
  return { ...gateway, client };
}

for (const [status, body] of REFUSALS) {
  Deno.test(`tokens are counted locally when the vendor has no counter: ${status} ${body.slice(0, 40)}`, async () => {
    const vendor = vendorThatSays(status, body);
    const gateway = await gatewayBefore(vendor);
    try {
      const { data, response } = await gateway.client.messages.countTokens(ASKING).withResponse();
      assert(data.input_tokens > 3 && data.input_tokens < 30);
      assertEquals(response.headers.get("x-service-counted-by"), "gateway");
      const genai = new GoogleGenAI({
        apiKey: gateway.key,
        httpOptions: { baseUrl: `${gateway.address}/gencompat` },
      });
      assert((await genai.models.countTokens({ model: "a/goo", contents: "How many?" })).totalTokens! > 1);
    } finally {
      await gateway.stop();
      await vendor.stop();
    }
  });
}

Deno.test("a vendor without a counter is not called again for ten minutes, for that model", async () => {
  const vendor = vendorThatSays(404, "");
  const clock = new ShiftedClock();
  const gateway = await gatewayBefore(vendor, clock);
  try {
    for (let times = 0; times < 3; times++) await gateway.client.messages.countTokens(ASKING);
    assertEquals(vendor.seen.length, 1);
    await gateway.client.messages.countTokens({ ...ASKING, model: "a/two" });
    assertEquals(vendor.seen.length, 2);
    clock.shift(10 * 60_000);
    await gateway.client.messages.countTokens(ASKING);
    assertEquals(vendor.seen.length, 3);
  } finally {
    await gateway.stop();
    clock.stop();
    await vendor.stop();
  }
});

Deno.test("a 404 that names the model is about the model, and is reported as the call would report it", async () => {
  const body = '{"type":"error","error":{"type":"not_found_error","message":"model: one"}}';
  const vendor = vendorThatSays(404, body);
  const gateway = await gatewayBefore(vendor);
  try {
    for (let times = 1; times <= 2; times++) {
      const refusal = await gateway.client.messages.countTokens(ASKING).catch((error) => error);
      assertEquals([refusal.status, vendor.seen.length], [404, times]);
    }
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
});
