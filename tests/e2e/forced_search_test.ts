import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";
import { accountMoney } from "../support/account_money.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const sandbox = await startSandbox({ port: 0 });
const { openai, google } = sandbox.baseUrls;
const toOpenai = { kind: "openai", base_url: openai, api_key: "k", speaks: "both" };
const toGoogle = { kind: "google", base_url: google, api_key: "k" };
const gateway = await startTestGateway({
  config: {
    providers: {
      "priced-openai": { ...toOpenai, quirks: [] },
      "priced-google": toGoogle,
      "allowing-openai": { ...toOpenai, quirks: [], allow_tools: ["web_search"] },
      "allowing-google": { ...toGoogle, allow_tools: ["web_search"] },
      "without-search": { ...toOpenai, quirks: ["no_web_search"] },
    },
    models: [
      ...["priced-openai", "priced-google"].map((name) => ({
        ...textModel(`sandbox/${name}`, [name]),
        pricing: { ...PRICING, web_search: "0.01" },
      })),
      ...["allowing-openai", "allowing-google", "without-search"].map((name) => textModel(`sandbox/${name}`, [name])),
    ],
  },
});
const account = accountMoney(gateway);

/** The request of Claude Code's tool WebSearch: it forces the search, and offers no other tool. */
async function forceSearch(model: string): Promise<{ status: number; text: string; events: Json[] }> {
  const response = await fetch(`${gateway.address}/msgcompat/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": gateway.key, "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({
      model,
      stream: true,
      max_tokens: 8_000,
      system: "You are an assistant for performing a web search tool use",
      messages: [{ role: "user", content: "Perform a web search for the query: weather in Bern" }],
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 8 }],
      tool_choice: { type: "tool", name: "web_search" },
    }),
  });
  const text = await response.text();
  const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
  return { status: response.status, text, events: lines.map((line) => JSON.parse(line.slice(6))) };
}

for (const name of ["priced-openai", "priced-google", "allowing-openai", "allowing-google"]) {
  Deno.test(`a search that is forced as Claude Code forces it returns its blocks in order: ${name}`, async () => {
    const before = await account.balance();
    const { status, text, events } = await forceSearch(`sandbox/${name}`);
    assertEquals(status, 200, text);
    const started = events.filter(({ type }) => type === "content_block_start");
    const [call, result, ...texts] = started.map(({ content_block }) => content_block);
    assertEquals([call.type, call.name, result.type], ["server_tool_use", "web_search", "web_search_tool_result"]);
    assertEquals(result.tool_use_id, call.id);
    assertEquals(result.content[0].url, "https://example.com/weather-in-bern/1");
    assert(texts.length > 0 && texts.every(({ type }) => type === "text"), JSON.stringify(texts));
    assertEquals(started.map(({ index }) => index), started.map((_, at) => at));
    const said = events.flatMap(({ delta }) => delta?.type === "text_delta" ? [delta.text] : []).join("");
    assertEquals(said, 'The web on "weather in Bern": a simulated page tells it all.');
    assertEquals(events.at(-1).type, "message_stop");
    const charged = before - await account.balance();
    assertEquals(charged >= 100_000_000n, name.startsWith("priced"), `charged ${charged}`);
  });
}

Deno.test("a forced search at a provider without searches is rejected, naming the field, and costs nothing", async () => {
  const before = await account.balance();
  const seen = sandbox.requests.length;
  const { status, text } = await forceSearch("sandbox/without-search");
  assertEquals(status, 400);
  const { type, error } = JSON.parse(text);
  assertEquals([type, error.type], ["error", "invalid_request_error"]);
  assertStringIncludes(error.message, '"tools[0]"');
  assertEquals([await account.balance(), sandbox.requests.length], [before, seen]);
});

Deno.test("the list of models shows which models can search", async () => {
  const headers = { "x-api-key": gateway.key, "anthropic-version": "2023-06-01" };
  const { data }: Json = await (await fetch(`${gateway.address}/msgcompat/v1/models`, { headers })).json();
  const able = data.filter(({ capabilities }: Json) => capabilities.server_tools.web_search.supported);
  assertEquals(able.map(({ id }: Json) => id.split("/")[1]).toSorted(), [
    "allowing-google",
    "allowing-openai",
    "priced-google",
    "priced-openai",
  ]);
});

Deno.test({
  name: "the gateway of the forced searches stops",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await gateway.stop();
    await sandbox.stop();
  },
});
