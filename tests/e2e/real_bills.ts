import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";

/** A line of a vendor's bill: an amount, and its published price in USD for a million tokens or a thousand calls. */
type Line = readonly [amount: number, price: string, unit?: "thousand"];

/** A request, and what its vendor bills for it by its published prices. */
export interface RealBill {
  readonly name: string;
  readonly model: string;
  /** When the request begins. Default: a Saturday. */
  readonly at?: string;
  /** The path at the gateway, and the body without the model. */
  readonly path: string;
  readonly body: JsonObject;
  /** The vendor's reply. */
  readonly reply: JsonObject;
  /** The sum is the vendor's bill. */
  readonly lines: readonly Line[];
  /** A factor on all lines of tokens. */
  readonly factor?: string;
  /** What the explanation of the request says about its price. */
  readonly reason?: string;
}

const hello = (more: JsonObject = {}) => ({ messages: [{ role: "user", content: "hi" }], max_tokens: 1_000, ...more });
const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const MESSAGES = "/msgcompat/v1/messages";
const content = (model: string) => `/gencompat/v1beta/models/${model}:generateContent`;

function chatReply(usage: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    ...more,
    usage,
  };
}

function responsesReply(usage: JsonObject, output: readonly JsonObject[] = []): JsonObject {
  const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] };
  return { id: "r", object: "response", status: "completed", output: [...output, message], usage };
}

function messagesReply(usage: JsonObject): JsonObject {
  return {
    id: "msg",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "hi" }],
    stop_reason: "end_turn",
    usage,
  };
}

function contentReply(usageMetadata: JsonObject, more: JsonObject = {}): JsonObject {
  const parts = [{ text: "hi" }];
  return { candidates: [{ content: { role: "model", parts }, finishReason: "STOP", ...more }], usageMetadata };
}

const said = { contents: [{ role: "user", parts: [{ text: "hi" }] }], generationConfig: { maxOutputTokens: 1_000 } };

/** Bills of the vendors with built-in prices, by what is special about them. */
export const REAL_BILLS: readonly RealBill[] = [
  {
    name: "small",
    model: "openai/gpt-6-sol",
    path: CHAT,
    body: hello(),
    reply: chatReply({ prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 }),
    lines: [[1_000, "2"], [500, "10"]],
  },
  {
    name: "long: above 272,000 tokens",
    model: "openai/gpt-6-sol",
    path: CHAT,
    body: hello(),
    reply: chatReply({ prompt_tokens: 300_000, completion_tokens: 1_000, total_tokens: 301_000 }),
    lines: [[300_000, "4"], [1_000, "15"]],
    reason: "above 272000 prompt tokens",
  },
  {
    name: "long: exactly 272,000 tokens",
    model: "openai/gpt-6-sol",
    path: CHAT,
    body: hello(),
    reply: chatReply({ prompt_tokens: 272_000, completion_tokens: 1_000, total_tokens: 273_000 }),
    lines: [[272_000, "2"], [1_000, "10"]],
  },
  {
    name: "long, with a cache: above 200,000 tokens",
    model: "google/gemini-3.1-pro-preview",
    path: content("google/gemini-3.1-pro-preview"),
    body: said,
    reply: contentReply({
      promptTokenCount: 200_001,
      cachedContentTokenCount: 150_000,
      candidatesTokenCount: 600,
      thoughtsTokenCount: 400,
      totalTokenCount: 201_001,
    }),
    lines: [[50_001, "4"], [150_000, "0.4"], [1_000, "18"]],
  },
  {
    name: "cache writes of 30 minutes and 12 hours",
    model: "openai/gpt-6-sol",
    path: RESPONSES,
    body: { input: "hi", max_output_tokens: 1_000 },
    reply: responsesReply({
      input_tokens: 110_000,
      input_tokens_details: {
        cached_tokens: 4_000,
        cache_write_tokens: 100_000,
        cache_write_tokens_details: { ttl_30m_tokens: 40_000, ttl_12h_tokens: 60_000 },
      },
      output_tokens: 100,
      total_tokens: 110_100,
    }),
    lines: [[6_000, "2"], [4_000, "0.2"], [40_000, "2.5"], [60_000, "5"], [100, "10"]],
  },
  {
    name: "cache writes of 12 hours, which chat completions does not name",
    model: "openai/gpt-6-sol",
    path: CHAT,
    body: hello({ prompt_cache_options: { ttl: "12h" } }),
    reply: chatReply({
      prompt_tokens: 100_100,
      completion_tokens: 100,
      total_tokens: 100_200,
      prompt_tokens_details: { cache_write_tokens: 100_000 },
    }),
    lines: [[100, "2"], [100_000, "5"], [100, "10"]],
  },
  {
    name: "cache writes of 5 minutes and an hour",
    model: "anthropic/claude-opus-5-5",
    path: MESSAGES,
    body: hello(),
    reply: messagesReply({
      input_tokens: 1_000,
      cache_read_input_tokens: 2_000,
      cache_creation_input_tokens: 7_000,
      cache_creation: { ephemeral_5m_input_tokens: 3_000, ephemeral_1h_input_tokens: 4_000 },
      output_tokens: 500,
    }),
    lines: [[1_000, "4"], [2_000, "0.2"], [3_000, "5"], [4_000, "8"], [500, "20"]],
  },
  {
    name: "tier flex, above 272,000 tokens",
    model: "openai/gpt-6-sol",
    path: CHAT,
    body: hello({ service_tier: "flex" }),
    reply: chatReply({ prompt_tokens: 300_000, completion_tokens: 1_000, total_tokens: 301_000 }, {
      service_tier: "flex",
    }),
    lines: [[300_000, "2"], [1_000, "7.5"]],
    reason: "tier flex",
  },
  {
    name: "fast mode",
    model: "anthropic/claude-opus-5-5",
    path: MESSAGES,
    body: hello({ speed: "fast" }),
    reply: messagesReply({ input_tokens: 1_000, output_tokens: 500, speed: "fast" }),
    lines: [[1_000, "8"], [500, "40"]],
  },
  {
    name: "region us",
    model: "anthropic/claude-opus-5-5",
    path: MESSAGES,
    body: hello({ inference_geo: "us" }),
    reply: messagesReply({ input_tokens: 1_000, output_tokens: 500, inference_geo: "us" }),
    lines: [[1_000, "4"], [500, "20"]],
    factor: "1.1",
    reason: "region us",
  },
  {
    name: "peak hours",
    model: "deepseek/deepseek-flash",
    at: "2026-11-30T03:59:59.999Z",
    path: CHAT,
    body: hello(),
    reply: chatReply({
      prompt_tokens: 1_000,
      completion_tokens: 500,
      total_tokens: 1_500,
      prompt_cache_hit_tokens: 600,
      prompt_cache_miss_tokens: 400,
    }),
    lines: [[400, "0.3"], [600, "0.006"], [500, "1.2"]],
    reason: "from 01:00 to 04:00 UTC",
  },
  {
    name: "after peak hours",
    model: "deepseek/deepseek-flash",
    at: "2026-11-30T04:00:00.000Z",
    path: CHAT,
    body: hello(),
    reply: chatReply({ prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 }),
    lines: [[1_000, "0.15"], [500, "0.6"]],
  },
  {
    name: "batch, as the reply names it",
    model: "anthropic/claude-haiku-5-5",
    at: "2026-11-30T05:00:00.000Z",
    path: MESSAGES,
    body: hello(),
    reply: messagesReply({ input_tokens: 150_000, output_tokens: 500, service_tier: "batch" }),
    lines: [[150_000, "0.25"], [500, "1.25"]],
    reason: "batch",
  },
  {
    name: "image in and out",
    model: "google/gemini-3-pro-image",
    at: "2026-11-30T05:00:00.000Z",
    path: content("google/gemini-3-pro-image"),
    body: said,
    reply: contentReply({
      promptTokenCount: 700,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 140 }, { modality: "IMAGE", tokenCount: 560 }],
      candidatesTokenCount: 1_220,
      candidatesTokensDetails: [{ modality: "TEXT", tokenCount: 100 }, { modality: "IMAGE", tokenCount: 1_120 }],
      totalTokenCount: 1_920,
    }),
    lines: [[700, "2"], [100, "12"], [1_120, "120"]],
  },
  {
    name: "audio in a prompt",
    model: "google/gemini-3.8-flash",
    at: "2026-11-30T05:00:00.000Z",
    path: content("google/gemini-3.8-flash"),
    body: said,
    reply: contentReply({
      promptTokenCount: 2_000,
      promptTokensDetails: [{ modality: "AUDIO", tokenCount: 1_900 }, { modality: "TEXT", tokenCount: 100 }],
      candidatesTokenCount: 100,
      totalTokenCount: 2_100,
    }),
    lines: [[2_000, "0.75"], [100, "3.75"]],
  },
  {
    name: "web searches and page fetches",
    model: "anthropic/claude-sonnet-5-5",
    at: "2026-11-30T05:00:00.000Z",
    path: MESSAGES,
    body: hello({ tools: [{ type: "web_search_20250305", name: "web_search" }] }),
    reply: messagesReply({
      input_tokens: 9_000,
      output_tokens: 500,
      server_tool_use: { web_search_requests: 3, web_fetch_requests: 2 },
    }),
    lines: [[9_000, "2"], [500, "10"], [3, "10", "thousand"]],
  },
  {
    name: "search and maps grounding, by query",
    model: "google/gemini-3.8-flash",
    at: "2026-11-30T05:00:00.000Z",
    path: content("google/gemini-3.8-flash"),
    body: { ...said, tools: [{ googleSearch: {} }] },
    reply: contentReply({
      promptTokenCount: 100,
      candidatesTokenCount: 200,
      toolUsePromptTokenCount: 50,
      totalTokenCount: 350,
    }, {
      groundingMetadata: { webSearchQueries: ["a", "b"], groundingChunks: [{ maps: { uri: "https://maps.example" } }] },
    }),
    lines: [[150, "0.75"], [200, "3.75"], [3, "14", "thousand"]],
  },
  {
    name: "file searches",
    model: "openai/gpt-6-sol",
    at: "2026-11-30T05:00:00.000Z",
    path: RESPONSES,
    body: { input: "hi", max_output_tokens: 1_000 },
    reply: responsesReply({ input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 }, [
      { type: "file_search_call", id: "f1", status: "completed", queries: ["a"] },
      { type: "file_search_call", id: "f2", status: "completed", queries: ["b"] },
    ]),
    lines: [[1_000, "2"], [100, "10"], [2, "2.5", "thousand"]],
  },
  {
    name: "iterations: two passes, and an advisor's at its own price",
    model: "anthropic/claude-sonnet-5-5",
    at: "2026-11-30T05:00:00.000Z",
    path: MESSAGES,
    body: hello(),
    reply: messagesReply({
      input_tokens: 1_000,
      output_tokens: 300,
      iterations: [
        { type: "message", input_tokens: 1_000, output_tokens: 100 },
        { type: "advisor_message", model: "claude-opus-5-5", input_tokens: 2_000, output_tokens: 400 },
        { type: "message", input_tokens: 1_500, output_tokens: 200 },
      ],
    }),
    lines: [[2_500, "2"], [300, "10"], [2_000, "4"], [400, "20"]],
  },
  {
    name: "reasoning counted above the completion that contains it",
    model: "openai/gpt-6-sol",
    at: "2026-11-30T05:00:00.000Z",
    path: CHAT,
    body: hello(),
    reply: chatReply({
      prompt_tokens: 10,
      completion_tokens: 52,
      total_tokens: 62,
      completion_tokens_details: { reasoning_tokens: 53 },
    }),
    lines: [[10, "2"], [52, "10"]],
  },
];
