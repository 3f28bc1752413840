import { assertEquals, assertNotEquals } from "@std/assert";
import { objectOf } from "../../src/conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";

const sandbox = await startSandbox({ port: 0 });
const gateway = await startTestGateway({
  config: {
    providers: {
      openai: {
        kind: "openai",
        base_url: sandbox.baseUrls.openai,
        api_key: "sandbox-key-openai",
        quirks: [],
        speaks: "both",
      },
    },
    models: [{ ...textModel("openai/gpt-4.1", ["openai"]), serves: [{ provider: "openai", model: "gpt-4.1" }] }],
  },
});

const MAX = 64;
/** The endpoints whose requests pass. */
const BODIES: Readonly<Record<string, JsonObject>> = {
  "chat/completions": { messages: [{ role: "user", content: "Hello" }] },
  responses: { input: "Hello" },
};

/** Sends a request with hints, and returns those that the vendor got. */
async function hintsOf(endpoint: string, body: JsonObject): Promise<JsonObject> {
  const before = sandbox.requests.length;
  const response = await fetch(`${gateway.address}/v1/${endpoint}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "openai/gpt-4.1", ...BODIES[endpoint], ...body }),
  });
  const text = await response.text();
  assertEquals(response.status, 200, text);
  assertEquals(response.headers.get("x-service-dropped"), null);
  const sent = objectOf(sandbox.requests[before]?.body) ?? {};
  return { prompt_cache_key: sent.prompt_cache_key, safety_identifier: sent.safety_identifier };
}

for (const endpoint of Object.keys(BODIES)) {
  Deno.test(`hints of ${MAX} characters pass at ${endpoint}, longer ones are shortened and stay different`, async () => {
    const [fits, long] = ["k".repeat(MAX), "k".repeat(MAX + 8)];
    const unchanged = { prompt_cache_key: fits, safety_identifier: fits };
    assertEquals(await hintsOf(endpoint, unchanged), unchanged);
    const sent = await hintsOf(endpoint, { prompt_cache_key: long, safety_identifier: `${long}-2` });
    for (const value of Object.values(sent)) assertEquals(String(value).length, MAX);
    assertNotEquals(sent.prompt_cache_key, sent.safety_identifier);
    assertEquals(await hintsOf(endpoint, { prompt_cache_key: long, safety_identifier: `${long}-2` }), sent);
  });
}

Deno.test({
  name: "long hints: the gateway stops",
  sanitizeResources: false,
  async fn() {
    await gateway.stop();
    await sandbox.stop();
  },
});
