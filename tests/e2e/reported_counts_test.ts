import { assertEquals } from "@std/assert";
import { accountMoney } from "../support/account_money.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { skipReplyChecks } from "../support/reply_checks.ts";
import { answer, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { type CallerProtocol, CHAT, MESSAGES, sendAs } from "./caller_protocols.ts";

/** A dollar for each of them; tokens are free. */
const PRICING = {
  prompt: "0",
  completion: "0",
  web_search: "1",
  web_fetch: "1",
  ocr_page: "1",
  audio_second: "1",
  per_image: "1",
};

const TOKENS = { prompt_tokens: 5, completion_tokens: 5, input_tokens: 5, output_tokens: 5 };

/** A reply of the chat format. */
function completion(usage: Record<string, unknown>, images: readonly unknown[] = []): unknown {
  const message = { role: "assistant", content: "a", images };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage: { ...TOKENS, ...usage } };
}

/** A reply of the messages format with calls of a hosted tool. */
function message(usage: Record<string, unknown>, calls = 0): unknown {
  const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
  const content = [...new Array(calls).fill(call), { type: "text", text: "a" }];
  const stop = { stop_reason: "end_turn", stop_sequence: null };
  return { id: "m", type: "message", role: "assistant", model: "m", content, ...stop, usage: { ...TOKENS, ...usage } };
}

const tools = (counts: Record<string, number>) => ({ server_tool_use: counts });
const SEARCH = { tools: [{ type: "web_search_20250305", name: "web_search" }] };

/** What a vendor reports, and how much of it is charged, in dollars. */
const CASES: readonly (readonly [
  name: string,
  face: CallerProtocol,
  reply: unknown,
  dollars: bigint,
  fields?: Record<string, unknown>,
])[] = [
  ["a billion searches", CHAT, completion({ num_search_queries: 1e9 }), 100n],
  ["a billion fetched pages", CHAT, completion(tools({ web_fetch_requests: 1e9 })), 100n],
  ["a billion recognized pages", CHAT, completion(tools({ ocr_pages: 1e9 })), 1_000n],
  ["a billion seconds of audio", CHAT, completion({ prompt_audio_seconds: 1e9 }), 86_400n],
  ["ten thousand images", CHAT, completion({}, new Array(10_000).fill({})), 100n],
  ["a billion fetched pages", MESSAGES, message(tools({ web_fetch_requests: 1e9 })), 100n],
  ["a billion searches in 9,000 calls", MESSAGES, message(tools({ web_search_requests: 1e9 }), 9_000), 150n, SEARCH],
];

for (const [name, face, reply, dollars, fields = {}] of CASES) {
  Deno.test(`of ${name} that a ${face.name} vendor reports, ${dollars} are charged`, async () => {
    const vendor = startScriptedUpstream(async (side) => {
      while (await side.request() !== null) await side.say(answer(200, JSON.stringify(reply)));
    });
    const kind = face === CHAT ? "openai" : "anthropic";
    const gateway = await startTestGateway({
      balance: "1000000.00",
      config: {
        providers: { vendor: { kind, base_url: vendor.baseUrl, api_key: "vendor-key" } },
        models: [{ ...textModel("vendor/m", ["vendor"]), pricing: PRICING }],
      },
    });
    skipReplyChecks(gateway.address);
    const { balance } = accountMoney(gateway);
    const before = await balance();
    const { status, text } = await sendAs(face, gateway, { model: "vendor/m", extra: fields });
    assertEquals(status, 200, text);
    assertEquals((before - await balance()) / 10n ** 10n, dollars);
    await gateway.stop();
    await vendor.stop();
  });
}
