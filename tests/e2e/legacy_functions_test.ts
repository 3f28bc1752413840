import { assertEquals } from "@std/assert";
import { isObject, listOf, objectOf } from "../../src/conversation/neutral/wire_value.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { defaultQuirks } from "../../src/vendors/upstreams/settings/default_quirks.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";

const HOSTS = { mistral: "api.mistral.ai", cohere: "api.cohere.ai" } as const;
const names = ["mistral", "cohere"] as const;
const sandbox = await startSandbox({ port: 0 });
const gateway = await startTestGateway({
  config: {
    providers: Object.fromEntries(names.map((name) => [name, {
      kind: "openai",
      base_url: sandbox.baseUrls[name],
      api_key: "k",
      quirks: [...defaultQuirks("openai", new URL(`https://${HOSTS[name]}`))],
    }])),
    models: names.map((name) => textModel(`${name}/chat`, [name])),
  },
});

const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };
const BODY = {
  functions: [{ name: "weather", parameters: PARAMETERS }],
  function_call: "auto",
  messages: [
    { role: "user", content: "The weather in Oslo?" },
    { role: "assistant", content: null, function_call: { name: "weather", arguments: '{"city":"Oslo"}' } },
    { role: "function", name: "weather", content: "Rain" },
  ],
};

for (const name of names) {
  Deno.test(`${name}, which takes tools only, gets deprecated functions, their calls and their results as tools`, async () => {
    const before = sandbox.requests.length;
    const response = await fetch(`${gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: `${name}/chat`, ...BODY }),
    });
    const text = await response.text();
    assertEquals([response.status, response.headers.get("x-service-dropped")], [200, null], text);
    const sent = objectOf(sandbox.requests[before]?.body) ?? {};
    const [, called, result] = listOf(sent.messages).filter(isObject);
    const [tool] = listOf(sent.tools).filter(isObject);
    assertEquals(objectOf(tool?.function)?.name, "weather");
    const [call] = listOf(called?.tool_calls).filter(isObject);
    assertEquals(call?.function, { name: "weather", arguments: '{"city":"Oslo"}' });
    assertEquals([result?.role, result?.tool_call_id, result?.content], ["tool", call?.id, "Rain"]);
  });
}

Deno.test({
  name: "legacy functions: the gateway stops",
  sanitizeResources: false,
  async fn() {
    await gateway.stop();
    await sandbox.stop();
  },
});
