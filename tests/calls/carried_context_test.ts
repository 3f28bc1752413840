import { CODECS } from "../support/formats.ts";
import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { carriedContextOf } from "../../src/services/calls/carried_context.ts";

const userMessage = (...parts: unknown[]) => ({ messages: [{ role: "user", content: parts }] });
const contents = (...parts: unknown[]) => ({ contents: [{ role: "user", parts }] });
const input = (...content: unknown[]) => ({ input: [{ role: "user", content }] });
const IMAGE = "data:image/png;base64,AAAA";

/** Requests that refer to context which is not in their bytes. */
const WITH_REFERENCES: readonly (readonly [CallerFormatName, JsonObject])[] = [
  ["content", contents({ fileData: { fileUri: "https://files.example/x", mimeType: "text/plain" } })],
  ["content", contents({ file_data: { file_uri: "gs://bucket/x" } })],
  ["content", contents({ inlineData: { mimeType: "application/pdf", data: "AAAA" } })],
  ["content", contents({ inline_data: { mime_type: "audio/wav", data: "AAAA" } })],
  ["content", {
    ...contents({ functionResponse: { name: "f", response: {}, parts: [{ fileData: { fileUri: "x" } }] } }),
  }],
  ["content", { ...contents({ text: "hi" }), cachedContent: "cachedContents/x" }],
  ["content", { ...contents({ text: "hi" }), cached_content: "cachedContents/x" }],
  ["content", { ...contents({ text: "hi" }), tools: [{ googleSearch: {} }] }],
  ["content", { ...contents({ text: "hi" }), tools: [{ functionDeclarations: [], codeExecution: {} }] }],
  ["content", { ...contents({ text: "hi" }), systemInstruction: { parts: [{ fileData: { fileUri: "x" } }] } }],
  ["chat", userMessage({ type: "file", file: { file_id: "file-1" } })],
  ["chat", userMessage({ type: "file", file: { file_data: "data:application/pdf;base64,AAAA" } })],
  ["chat", userMessage({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } })],
  ["chat", userMessage({ type: "video_url", video_url: { url: "https://a.example/v.mp4" } })],
  ["chat", userMessage({ type: "image_url", image_url: { url: "data:application/pdf;base64,AAAA" } })],
  ["chat", userMessage({ type: "image_url", image_url: { url: "gs://bucket/long.txt" } })],
  ["chat", { messages: [{ role: "assistant", audio: { id: "audio_1" } }] }],
  ["chat", { ...userMessage({ type: "text", text: "hi" }), web_search_options: {} }],
  ["responses", { input: "hi", previous_response_id: "resp_1" }],
  ["responses", { input: "hi", conversation: "conv_1" }],
  ["responses", { input: "hi", conversation: { id: "conv_1" } }],
  ["responses", { prompt: { id: "pmpt_1" } }],
  ["responses", { input: [{ type: "item_reference", id: "msg_1" }] }],
  ["responses", input({ type: "input_file", file_url: "https://a.example/x.pdf" })],
  ["responses", input({ type: "input_image", file_id: "file-1" })],
  ["responses", { input: "hi", tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }],
  ["responses", { input: "hi", tools: [{ type: "mcp", server_url: "https://a.example" }] }],
  ["responses", { input: [{ type: "function_call_output", output: [{ type: "input_file", file_id: "file-1" }] }] }],
  [
    "messages",
    userMessage({ type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } }),
  ],
  ["messages", userMessage({ type: "document", source: { type: "url", url: "https://a.example/x.pdf" } })],
  ["messages", userMessage({ type: "image", source: { type: "file", file_id: "file_1" } })],
  ["messages", userMessage({ type: "container_upload", file_id: "file_1" })],
  [
    "messages",
    userMessage({ type: "tool_result", content: [{ type: "document", source: { type: "file", file_id: "f" } }] }),
  ],
  ["messages", { ...userMessage({ type: "text", text: "hi" }), container: "container_1" }],
  ["messages", {
    ...userMessage({ type: "text", text: "hi" }),
    tools: [{ type: "web_search_20250305", name: "web_search" }],
  }],
];

for (const [form, body] of WITH_REFERENCES) {
  Deno.test(`carriedContextOf() reports context outside the request: ${form} ${JSON.stringify(body).slice(0, 120)}`, () => {
    assertEquals(carriedContextOf(CODECS[form].caller.grammar, body, false).isSizeKnown, false);
  });
}

/** Requests whose bytes are their whole prompt, with the number of images in them. */
const SELF_CONTAINED: readonly (readonly [CallerFormatName, JsonObject, number])[] = [
  ["chat", { messages: [{ role: "user", content: "name the file_id and previous_response_id" }], n: 3 }, 0],
  [
    "chat",
    userMessage({ type: "image_url", image_url: { url: IMAGE } }, { type: "image_url", image_url: { url: IMAGE } }),
    2,
  ],
  ["chat", userMessage({ type: "image_url", image_url: { url: "https://a.example/cat.png" } }), 1],
  ["chat", { ...userMessage(), audio: { voice: "alloy", format: "wav" }, plugins: [], conversation: null }, 0],
  ["chat", {
    ...userMessage(),
    tools: [{ type: "function", function: { name: "f", parameters: { properties: { file_id: { type: "string" } } } } }],
    response_format: { type: "json_schema", json_schema: { schema: { properties: { fileUri: { type: "string" } } } } },
  }, 0],
  ["responses", input({ type: "input_image", image_url: IMAGE }), 1],
  ["responses", { input: "hi", prompt: "words", tools: [{ type: "custom", name: "f" }, { type: "local_shell" }] }, 0],
  ["messages", userMessage({ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }), 1],
  ["messages", userMessage({ type: "document", source: { type: "text", media_type: "text/plain", data: "words" } }), 0],
  ["messages", userMessage({ type: "tool_use", id: "1", name: "f", input: { file_id: "caller's own" } }), 0],
  ["messages", {
    ...userMessage(),
    tools: [{ name: "f", input_schema: { file_uri: {} } }, { type: "bash_20250124", name: "bash" }],
  }, 0],
  ["content", contents({ inlineData: { mimeType: "image/png", data: "AAAA" } }, { text: "hi" }), 1],
  ["content", contents({ functionCall: { name: "f", args: { fileUri: "caller's own" } } }), 0],
  ["content", { ...contents({ text: "hi" }), tools: [{ functionDeclarations: [{ name: "f" }] }] }, 0],
];

for (const [form, body, pictures] of SELF_CONTAINED) {
  Deno.test(`carriedContextOf() accepts a request by its bytes: ${form} ${JSON.stringify(body).slice(0, 120)}`, () => {
    const found = carriedContextOf(CODECS[form].caller.grammar, body, false);
    assertEquals([found.isSizeKnown, found.pictures], [true, pictures]);
  });
}

Deno.test("carriedContextOf() counts the characters of inline images and the images given by URL", () => {
  const body = userMessage(
    { type: "image_url", image_url: { url: IMAGE } },
    { type: "image_url", image_url: { url: "https://a.example/cat.png" } },
  );
  const { pictureCharacters, picturesByAddress } = carriedContextOf(CODECS.chat.caller.grammar, body, false);
  assertEquals([pictureCharacters, picturesByAddress], [IMAGE.length, 1]);
});

Deno.test("carriedContextOf() omits cached content of known size", () => {
  const body = { ...contents({ text: "hi" }), cachedContent: "cachedContents/x" };
  assertEquals(carriedContextOf(CODECS.content.caller.grammar, body, true).isSizeKnown, true);
});
