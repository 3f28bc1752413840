import { assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import { defaultQuirks } from "../../src/vendors/upstreams/settings/default_quirks.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { objectOf } from "../../src/conversation/neutral/wire_value.ts";
import { itemAt } from "../support/items.ts";

const PDF = btoa("%PDF-1.4\n%%EOF");
const TEXT = btoa("The fox is red.");
const at = (type: string, data: string) => ({ filename: "a", file_data: `data:${type};base64,${data}` });
const chatFile = (type: string, data: string) => ({
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }, { type: "file", file: at(type, data) }] }],
});

interface Got {
  readonly status: number;
  readonly text: string;
  readonly paths: readonly string[];
  readonly sent: JsonObject;
  readonly dropped: string | null;
}

async function withVendors(run: (send: (path: string, body: JsonObject) => Promise<Got>) => Promise<void>) {
  const sandbox: Sandbox = await startSandbox({ port: 0 });
  const quirksOf = (host: string) => [...defaultQuirks("openai", new URL(`https://${host}`))];
  const { azure, alibaba, groq } = sandbox.baseUrls;
  const gateway: TestGateway = await startTestGateway({
    config: {
      providers: {
        azure: {
          kind: "openai",
          base_url: `${azure}/openai/v1`,
          api_key: "k",
          speaks: "chat_first",
          quirks: quirksOf("a.openai.azure.com"),
        },
        alibaba: { kind: "alibaba", base_url: alibaba, api_key: "k" },
        groq: { kind: "openai", base_url: groq, api_key: "k", quirks: quirksOf("api.groq.com") },
      },
      models: [
        { ...textModel("azure/gpt-4.1", ["azure"]), serves: [{ provider: "azure", model: "gpt-4.1" }] },
        { ...textModel("alibaba/qwen3.8-max", ["alibaba"]), serves: [{ provider: "alibaba", model: "qwen3.8-max" }] },
        { ...textModel("groq/gpt-oss", ["groq"]), serves: [{ provider: "groq", model: "openai/gpt-oss-120b" }] },
        { ...textModel("groq/qwen", ["groq"]), serves: [{ provider: "groq", model: "qwen/qwen3.8-27b" }] },
      ],
    },
  });
  try {
    await run(async (path, body) => {
      const before = sandbox.requests.length;
      const response = await fetch(`${gateway.address}${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.key}`,
          "content-type": "application/json",
          "anthropic-version": "2023-06-01",
        },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      const requests = sandbox.requests.slice(before);
      return {
        status: response.status,
        text,
        paths: requests.map((request) => request.path),
        dropped: response.headers.get("x-service-dropped"),
        sent: requests.length === 0 ? {} : objectOf(itemAt(requests, 0).body) ?? {},
      };
    });
  } finally {
    await gateway.stop();
    await sandbox.stop();
  }
}

Deno.test("a document goes to Azure's responses, whose chat completions refuses it", () =>
  withVendors(async (send) => {
    const requests: readonly (readonly [string, JsonObject])[] = [
      ["/v1/chat/completions", { model: "azure/gpt-4.1", ...chatFile("application/pdf", PDF) }],
      ["/v1/responses", {
        model: "azure/gpt-4.1",
        input: [{ role: "user", content: [{ type: "input_file", ...at("application/pdf", PDF) }] }],
      }],
      ["/msgcompat/v1/messages", {
        model: "azure/gpt-4.1",
        max_tokens: 50,
        messages: [{
          role: "user",
          content: [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF } }],
        }],
      }],
    ];
    for (const [path, body] of requests) {
      const got = await send(path, body);
      assertEquals(got.status, 200, `${path}: ${got.text}`);
      assertEquals(got.paths, ["/azure/openai/v1/responses"], path);
      assertStringIncludes(JSON.stringify(got.sent.input), PDF);
    }
    const plain = await send("/v1/chat/completions", {
      model: "azure/gpt-4.1",
      messages: [{ role: "user", content: "hi" }],
    });
    assertEquals(plain.paths, ["/azure/openai/v1/chat/completions"]);
  }));

Deno.test("a text document goes to Alibaba as text, and another one is refused by its name", () =>
  withVendors(async (send) => {
    const model = "alibaba/qwen3.8-max";
    const text = await send("/v1/chat/completions", { model, ...chatFile("text/plain", TEXT) });
    assertEquals(text.status, 200, text.text);
    assertStringIncludes(JSON.stringify(text.sent.messages), "The fox is red.");
    const pdf = await send("/v1/chat/completions", { model, ...chatFile("application/pdf", PDF) });
    assertEquals(pdf.status, 400);
    assertStringIncludes(pdf.text, "this model does not support documents other than text");
    assertEquals(pdf.paths, []);
  }));

const CALL = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
const TOOL = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } };
const MARK = { cache_control: { type: "ephemeral" } };

Deno.test("Groq gets messages without the fields that it refuses", () =>
  withVendors(async (send) => {
    const got = await send("/v1/chat/completions", {
      model: "groq/gpt-oss",
      logprobs: true,
      logit_bias: { "5": 1 },
      prompt_cache_key: "p",
      reasoning: { effort: "high" },
      max_completion_tokens: 60,
      tools: [TOOL],
      messages: [
        { role: "developer", content: "d" },
        { role: "user", name: "u", content: [{ type: "text", text: "hi", ...MARK }], ...MARK },
        { role: "assistant", content: null, reasoning_content: "why", reasoning_details: [], tool_calls: [CALL] },
        { role: "tool", tool_call_id: "c1", name: "f", content: "r" },
      ],
    });
    assertEquals(got.status, 200, got.text);
    assertEquals(got.sent.messages, [
      { role: "system", content: "d" },
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "assistant", content: null, reasoning: "why", tool_calls: [CALL] },
      { role: "tool", tool_call_id: "c1", content: "r" },
    ]);
    assertEquals(got.sent.reasoning_effort, "high");
    assertEquals([got.sent.max_completion_tokens, got.sent.max_tokens], [60, undefined]);
    assertEquals(
      [...new Set(got.dropped?.split(", "))].sort(),
      ["logit_bias", "logprobs", "messages.cache_control", "messages.content.cache_control", "messages.name"]
        .concat("prompt_cache_key").sort(),
    );
  }));

Deno.test("Groq gets the reasoning of a tool loop in its own field", () =>
  withVendors(async (send) => {
    const got = await send("/v1/responses", {
      model: "groq/gpt-oss",
      store: false,
      tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }],
      input: [
        { role: "user", content: "hi" },
        { type: "reasoning", summary: [{ type: "summary_text", text: "why" }] },
        { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "r" },
      ],
    });
    assertEquals(got.status, 200, got.text);
    const [, assistant] = got.sent.messages as JsonObject[];
    assertEquals([assistant?.reasoning, assistant?.reasoning_content], ["why", undefined]);
  }));

Deno.test("Groq's Qwen gets no effort but none", () =>
  withVendors(async (send) => {
    for (const [path, effort] of [["/v1/chat/completions", "high"], ["/v1/responses", "low"]] as const) {
      const body = path.endsWith("responses")
        ? { input: "hi", reasoning: { effort } }
        : { messages: [{ role: "user", content: "hi" }], reasoning_effort: effort };
      const got = await send(path, { model: "groq/qwen", ...body });
      assertEquals(got.status, 200, got.text);
      assertEquals(got.sent.reasoning_effort, undefined);
      assertStringIncludes(got.dropped ?? "", "reasoning");
    }
    const off = await send("/v1/chat/completions", {
      model: "groq/qwen",
      reasoning_effort: "none",
      messages: [{ role: "user", content: "hi" }],
    });
    assertEquals([off.status, off.sent.reasoning_effort], [200, "none"]);
  }));

Deno.test("Groq, which has no allowed_tools, gets only the tools that are allowed", () =>
  withVendors(async (send) => {
    const other = { type: "function", function: { name: "g", parameters: { type: "object", properties: {} } } };
    const got = await send("/v1/chat/completions", {
      model: "groq/gpt-oss",
      messages: [{ role: "user", content: "hi" }],
      tools: [TOOL, other],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] },
      },
    });
    assertEquals(got.status, 200, got.text);
    assertEquals([got.sent.tools, got.sent.tool_choice, got.dropped], [[TOOL], "required", null]);
  }));
