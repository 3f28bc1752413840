import { assert, assertEquals } from "@std/assert";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { startStubVendor } from "../images/stub_vendor.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { type Answer, callerOf } from "../support/gateway_call.ts";
import { itemAt } from "../support/items.ts";
import { accountMoney } from "../support/account_money.ts";

type Json = Record<string, unknown>;

const PRICING = {
  prompt: "0.000001",
  completion: "0.000002",
  input_cache_read: "0.0000001",
  audio: "0.00003",
  audio_output: "0.0001",
  audio_cache_read: "0.000003",
  image_input: "0.00001",
  image_output: "0.00004",
  video_output: "0.00005",
  per_image: "0.02",
  per_input_image: "0.003",
  web_search: "0.01",
};

/** A vendor's response, and its price. */
interface Priced {
  readonly form: CallerFormatName;
  readonly what: string;
  /** The whole reply. */
  readonly body: Json;
  /** The same as the events of a stream. */
  readonly events: readonly Json[];
  readonly cost: string;
  readonly pricing?: Json;
}

function chat(what: string, usage: Json, message: Json, cost: string): Priced {
  const head = { id: "c", created: 1, model: "m" };
  const choice = (fields: Json, reason: string | null) => ({ index: 0, ...fields, finish_reason: reason });
  return {
    form: "chat",
    what,
    body: {
      ...head,
      object: "chat.completion",
      choices: [choice({ message: { role: "assistant", content: "hi", ...message } }, "stop")],
      usage,
    },
    events: [
      { ...head, choices: [choice({ delta: { role: "assistant", content: "hi", ...message } }, null)] },
      { ...head, choices: [choice({ delta: {} }, "stop")] },
      { ...head, choices: [], usage },
    ],
    cost,
  };
}

function responses(what: string, usage: Json, items: readonly Json[], cost: string): Priced {
  const text = { type: "output_text", text: "hi", annotations: [] };
  const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [text] };
  const output = [...items, message];
  const response = { id: "resp_1", object: "response", created_at: 1, model: "m", status: "completed", output, usage };
  return {
    form: "responses",
    what,
    body: response,
    events: [
      { type: "response.created", response: { ...response, output: [], usage: null, status: "in_progress" } },
      ...output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })),
      // Some vendors omit the items here.
      { type: "response.completed", response: { ...response, output: [] } },
    ],
    cost,
  };
}

function messages(what: string, usage: Json, cost: string): Priced {
  const head = { id: "msg_1", type: "message", role: "assistant", model: "m" };
  return {
    form: "messages",
    what,
    body: { ...head, content: [{ type: "text", text: "hi" }], stop_reason: "end_turn", usage },
    events: [
      { type: "message_start", message: { ...head, content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
      { type: "message_stop" },
    ],
    cost,
  };
}

function content(what: string, usageMetadata: Json, fields: Json, parts: readonly Json[], cost: string): Priced {
  const saying = (said: readonly Json[]) => ({ content: { role: "model", parts: said } });
  return {
    form: "content",
    what,
    body: { candidates: [{ ...saying([{ text: "hi" }, ...parts]), ...fields, finishReason: "STOP" }], usageMetadata },
    events: [
      { candidates: [{ ...saying([{ text: "h" }]), ...fields }], usageMetadata: { promptTokenCount: 1 } },
      ...parts.map((part) => ({ candidates: [saying([part])] })),
      { candidates: [{ ...saying([{ text: "i" }]), finishReason: "STOP" }], usageMetadata },
    ],
    cost,
  };
}

const PNG = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };
const FROM_AUDIO = [{ modality: "AUDIO", tokenCount: 1_000 }, { modality: "TEXT", tokenCount: 200 }];

const CASES: readonly Priced[] = [
  chat(
    "audio",
    {
      prompt_tokens: 1_000,
      completion_tokens: 500,
      total_tokens: 1_500,
      prompt_tokens_details: { audio_tokens: 1_000 },
      completion_tokens_details: { audio_tokens: 500 },
    },
    {},
    "0.0800000000",
  ),
  chat(
    "searches that are counted",
    {
      prompt_tokens: 100,
      completion_tokens: 50,
      num_search_queries: 3,
    },
    {},
    "0.0302000000",
  ),
  chat("a search that only a citation tells of", { prompt_tokens: 100, completion_tokens: 50 }, {
    annotations: [{
      type: "url_citation",
      url_citation: { url: "https://a.test/", title: "A", start_index: 0, end_index: 2 },
    }],
  }, "0.0102000000"),
  chat(
    "images in and out",
    {
      prompt_tokens: 300,
      completion_tokens: 100,
      prompt_tokens_details: { image_tokens: 200 },
      completion_tokens_details: { image_tokens: 90 },
      // 100 × 1, 200 × 10, 10 × 2, 90 × 40 millionths, an image of 0.02
    },
    { images: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }] },
    "0.0257200000",
  ),
  responses(
    "audio from a cache",
    {
      input_tokens: 1_000,
      // The report does not say which tokens were cached. The 400 audio tokens count as new, up to the number of new
      // tokens.
      input_tokens_details: { cached_tokens: 700, audio_tokens: 400 },
      output_tokens: 10,
      output_tokens_details: { audio_tokens: 10 },
      // 300 × 30, 100 × 3, 600 × 0.1, 10 × 100 millionths
    },
    [],
    "0.0103600000",
  ),
  responses("searches and no opened pages", { input_tokens: 100, output_tokens: 50 }, [
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "a" } },
    { type: "web_search_call", id: "ws_2", status: "completed", action: { type: "open_page", url: "https://a.test" } },
    { type: "web_search_call", id: "ws_3", status: "failed", action: { type: "search", query: "b" } },
    { type: "web_search_call", id: "ws_4", status: "completed" },
  ], "0.0202000000"),
  messages("searches", {
    input_tokens: 100,
    output_tokens: 50,
    server_tool_use: { web_search_requests: 4, web_fetch_requests: 2 },
  }, "0.0402000000"),
  messages("an advisor", {
    input_tokens: 200,
    output_tokens: 30,
    iterations: [
      { type: "message", input_tokens: 100, output_tokens: 10 },
      { type: "advisor_message", model: "wise-20260301", input_tokens: 1_000, output_tokens: 500 },
      { type: "message", input_tokens: 100, output_tokens: 20 },
    ],
    // 200 × 1 and 30 × 2 of the model, 1,000 × 100 and 500 × 200 of its advisor
  }, "0.2002600000"),
  messages("an advisor that is not in the catalog", {
    input_tokens: 200,
    output_tokens: 30,
    iterations: [
      { type: "message", input_tokens: 200, output_tokens: 30 },
      { type: "advisor_message", model: "unheard-of", input_tokens: 1_000, output_tokens: 500 },
    ],
  }, "0.0022600000"),
  messages("a model that took over", {
    input_tokens: 100,
    output_tokens: 50,
    iterations: [
      { type: "message", model: "m", input_tokens: 90, output_tokens: 0 },
      { type: "fallback_message", model: "wise", input_tokens: 100, output_tokens: 50 },
    ],
  }, "0.0200000000"),
  content(
    "audio, also from a cache and a tool",
    {
      promptTokenCount: 1_200,
      cachedContentTokenCount: 500,
      candidatesTokenCount: 50,
      toolUsePromptTokenCount: 100,
      promptTokensDetails: FROM_AUDIO,
      cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 400 }, { modality: "TEXT", tokenCount: 100 }],
      toolUsePromptTokensDetails: [{ modality: "AUDIO", tokenCount: 60 }],
      candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 40 }],
      // 660 × 30, 140 × 1, 400 × 3, 100 × 0.1, 40 × 100, 10 × 2 millionths
    },
    {},
    [],
    "0.0251700000",
  ),
  content(
    "different queries",
    { promptTokenCount: 100, candidatesTokenCount: 50 },
    {
      groundingMetadata: { webSearchQueries: ["a", "b", "a"] },
    },
    [],
    "0.0202000000",
  ),
  content(
    "an image and video out",
    {
      promptTokenCount: 100,
      candidatesTokenCount: 300,
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 100 }, { modality: "VIDEO", tokenCount: 150 }],
      // 100 × 1, 100 × 40, 150 × 50, 50 × 2 millionths, an image of 0.02
    },
    {},
    [PNG],
    "0.0317000000",
  ),
];

const FORMS: readonly CallerFormatName[] = ["chat", "responses", "messages", "content"];

function requestOf(form: CallerFormatName, stream: boolean, fields: Json = {}): [path: string, body: Json] {
  const turns = [{ role: "user", content: "hi" }];
  switch (form) {
    case "chat":
      return ["/v1/chat/completions", { model: "stub/m", messages: turns, stream, ...fields }];
    case "responses":
      return ["/v1/responses", { model: "stub/m", input: turns, stream, ...fields }];
    case "messages":
      return ["/msgcompat/v1/messages", { model: "stub/m", max_tokens: 100, messages: turns, stream, ...fields }];
    case "content": {
      const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      return [`/gencompat/v1beta/models/stub/m:${method}`, { contents: [{ parts: [{ text: "hi" }] }], ...fields }];
    }
  }
}

/** The provider kind of a vendor of each format. */
const KINDS: Readonly<Record<CallerFormatName, Json>> = {
  chat: { kind: "openai", speaks: "chat" },
  responses: { kind: "openai", speaks: "responses" },
  messages: { kind: "anthropic" },
  content: { kind: "google" },
};

interface Shop {
  readonly gateway: TestGateway;
  /** The vendor's next responses. */
  answer: Priced;
  ask(form: CallerFormatName, stream: boolean, fields?: Json): Promise<Answer>;
  /** The account's spending since the last call, as a decimal of USD. */
  spent(): Promise<string>;
}

async function withShop(form: CallerFormatName, test: (shop: Shop) => Promise<void>, fields: Json = {}): Promise<void> {
  let answer = itemAt(CASES, 0);
  await using vendor = startStubVendor(async (request) => {
    const isStream = request.url.includes("stream") || (await request.text()).includes('"stream":true');
    if (!isStream) return Response.json(answer.body);
    const frames = answer.events.map((event) => {
      const name = typeof event.type === "string" ? `event: ${event.type}\n` : "";
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    });
    if (answer.form === "chat") frames.push("data: [DONE]\n\n");
    return new Response(frames.join(""), { headers: { "content-type": "text/event-stream" } });
  });
  const wise = { prompt: "0.0001", completion: "0.0002" };
  const serves = (model: string) => [{ provider: "stub", model }];
  const gateway = await startTestGateway({
    config: {
      providers: { stub: { ...KINDS[form], base_url: vendor.address, api_key: "stub-key" } },
      models: [
        { id: "stub/m", pricing: PRICING, serves: serves("m"), ...fields },
        { id: "stub/wise", pricing: wise, serves: serves("wise") },
      ],
    },
  });
  const account = accountMoney(gateway);
  let before = await account.balance();
  const own = { authorization: `Bearer ${gateway.key}`, "msg-version": "2023-06-01" };
  const call = callerOf(gateway.address, own);
  try {
    await test({
      gateway,
      get answer() {
        return answer;
      },
      set answer(next) {
        answer = next;
      },
      ask: (asked, stream, more) => call("POST", ...requestOf(asked, stream, more)),
      async spent() {
        const now = await account.balance();
        const units = before - now;
        before = now;
        return `${units / 10n ** 10n}.${(units % 10n ** 10n).toString().padStart(10, "0")}`;
      },
    });
  } finally {
    await gateway.stop();
  }
}

for (const form of FORMS) {
  Deno.test(`every price is charged for what a ${form} vendor reports, to callers of all formats`, async () => {
    await withShop(form, async (shop) => {
      for (const priced of CASES.filter((each) => each.form === form)) {
        shop.answer = priced;
        for (const caller of FORMS) {
          for (const stream of [false, true]) {
            const { status, text } = await shop.ask(caller, stream);
            const name = `${priced.what}, ${caller}, ${stream ? "stream" : "whole"}`;
            assertEquals([status, /"error": ?[{"]/.test(text)], [200, false], `${name}: ${text}`);
            assertEquals(await shop.spent(), priced.cost, name);
          }
        }
      }
    });
  });
}

Deno.test("input images are charged one by one, and text that looks like an image is not", async () => {
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const gives: Readonly<Record<CallerFormatName, Json>> = {
    chat: { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] },
    responses: { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] },
    messages: {
      messages: [
        {
          role: "user",
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } }],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "draw", input: { type: "image" } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "done" }] },
      ],
    },
    content: {
      contents: [{ role: "user", parts: [{ inline_data: { mime_type: "image/png", data: "iVBORw0KGgo=" } }] }],
    },
  };
  for (const form of FORMS) {
    await withShop(form, async (shop) => {
      const plain = {
        chat: chat("", { prompt_tokens: 100, completion_tokens: 50 }, {}, ""),
        responses: responses("", { input_tokens: 100, output_tokens: 50 }, [], ""),
        messages: messages("", { input_tokens: 100, output_tokens: 50 }, ""),
        content: content("", { promptTokenCount: 100, candidatesTokenCount: 50 }, {}, [], ""),
      };
      shop.answer = plain[form];
      const { status, text } = await shop.ask(form, false, gives[form]);
      assertEquals(status, 200, text);
      assertEquals(await shop.spent(), "0.0032000000", form);
    });
  }
});

Deno.test("a reply is charged by the service tier that it names, and a tier without a price is rejected", async () => {
  const tiers = {
    pricing_tiers: { priority: { prompt: "0.00001", completion: "0.00002" }, fast: { prompt: "0.0001" } },
  };
  const named = (form: CallerFormatName, tier: string): Priced => {
    switch (form) {
      case "chat": {
        const plain = chat("", { prompt_tokens: 100, completion_tokens: 50 }, {}, "");
        const events = plain.events.map((event) => ({ ...event, service_tier: tier }));
        return { ...plain, body: { ...plain.body, service_tier: tier }, events };
      }
      case "responses": {
        const plain = responses("", { input_tokens: 100, output_tokens: 50 }, [], "");
        const events = plain.events.map((event) =>
          "response" in event ? { ...event, response: { ...event.response as Json, service_tier: tier } } : event
        );
        return { ...plain, body: { ...plain.body, service_tier: tier }, events };
      }
      case "messages":
        return messages("", { input_tokens: 100, output_tokens: 50, service_tier: tier }, "");
      case "content":
        return content("", { promptTokenCount: 100, candidatesTokenCount: 50, serviceTier: tier }, {}, [], "");
    }
  };
  const usual: Readonly<Record<CallerFormatName, readonly string[]>> = {
    chat: ["auto", "default"],
    responses: ["auto", "default"],
    messages: ["auto", "standard_only"],
    content: ["standard", "SERVICE_TIER_UNSPECIFIED"],
  };
  for (const form of FORMS) {
    const field = form === "content" ? "serviceTier" : "service_tier";
    await withShop(form, async (shop) => {
      for (
        const [tier, cost] of [["priority", "0.0020000000"], ["default", "0.0002000000"], [
          "flex",
          "0.0002000000",
        ]] as const
      ) {
        shop.answer = named(form, tier);
        for (const stream of [false, true]) {
          assertEquals((await shop.ask(form, stream)).status, 200);
          assertEquals(await shop.spent(), cost, `${form} ${tier} ${stream}`);
        }
      }
      assert(shop.gateway.logLines.some((line) => line.includes('"tier_unpriced"') && line.includes('"flex"')));
      for (const tier of [...usual[form], "priority"]) {
        assertEquals((await shop.ask(form, false, { [field]: tier })).status, 200, `${form} ${tier}`);
      }
      await shop.spent();
      for (const tier of ["flex", 7, ""]) {
        const { status, text } = await shop.ask(form, false, { [field]: tier });
        assertEquals([status, text.includes(field)], [400, true], `${form} ${tier}: ${text}`);
      }
      assertEquals(await shop.spent(), "0.0000000000");
    }, tiers);
  }
});

Deno.test("fast mode is a tier of its own: charged where it has a price, rejected where it has none", async () => {
  const fast = messages("", { input_tokens: 100, output_tokens: 50, service_tier: "standard", speed: "fast" }, "");
  await withShop("messages", async (shop) => {
    shop.answer = fast;
    assertEquals((await shop.ask("messages", true, { speed: "fast" })).status, 200);
    assertEquals(await shop.spent(), "0.0101000000");
  }, { pricing_tiers: { fast: { prompt: "0.0001" } } });
  await withShop("messages", async (shop) => {
    shop.answer = fast;
    const { status, text } = await shop.ask("messages", false, { speed: "fast" });
    assertEquals([status, text.includes("speed")], [400, true]);
    assertEquals((await shop.ask("messages", false, { speed: "standard" })).status, 200);
  });
});
