import { readChecked } from "../../src/conversation/contract/caller_format.ts";
import { NO_QUIRKS } from "../../src/conversation/contract/quirks.ts";
import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { Conversation, Part } from "../../src/conversation/neutral/conversation.ts";
import { isToolCall, type Reply } from "../../src/conversation/neutral/reply.ts";
import type { CallerFormatName, ReasoningSignature } from "../../src/conversation/neutral/reasoning_signature.ts";
import { conversationOf, replyContextOf, RESEMBLING_QUIRKS } from "../support/conversations.ts";
import { CODECS, FORMATS, framesOf, serialized, TARGETS, throughFormat } from "../support/formats.ts";
import { itemAt } from "../support/items.ts";
import { streamOf } from "../support/stream_of.ts";

const REQUEST = conversationOf({
  reasoning: { effort: "high", budgetTokens: null, visible: true },
  tools: [{ kind: "function", name: "look", description: null, parameters: null, strict: null }],
});
const CONTEXT = replyContextOf({ conversation: REQUEST, includeUsage: true });
const ISSUER = "acme";

/** A signature as vendors of each format spell it. */
function signatureOf(form: CallerFormatName, word: string): ReasoningSignature {
  const base64 = btoa(`${word}: 0 secret words of the vendor's own`);
  const value = form === "chat" ? JSON.stringify({ index: 0, signature: base64, type: "reasoning.text" }) : base64;
  return { format: form, issuer: ISSUER, value };
}

/** An agent step with every signature that vendors of a format issue. */
function replyFrom(form: CallerFormatName): Reply {
  const signaturesOnAll = form === "content";
  const parts: Reply["parts"] = [
    { kind: "reasoning", text: "hm", signature: signatureOf(form, "thought") },
    ...(form === "messages"
      ? [{ kind: "reasoning" as const, text: "", redacted: true, signature: signatureOf(form, "hidden") }]
      : []),
    { kind: "text", text: "Let me see.", ...(signaturesOnAll ? { signature: signatureOf(form, "text") } : {}) },
    {
      kind: "tool_call",
      callId: "call_1",
      tool: "look",
      input: "{}",
      ...(signaturesOnAll ? { signature: signatureOf(form, "call") } : {}),
    },
    { kind: "tool_call", callId: "call_2", tool: "look", input: '{"at":"a"}' },
  ];
  return {
    id: "r1",
    model: "m",
    createdAt: 5,
    parts: parts.map((part) =>
      part.kind === "reasoning" && !part.redacted
        ? { kind: part.kind, text: part.text, ...(part.signature && { signature: part.signature }) }
        : part
    ),
    stop: { reason: "tool_calls", raw: null },
    usage: null,
    unsupportedFields: [],
  };
}

function signaturesOf(parts: readonly Part[]): string[] {
  return parts.flatMap((part) =>
    "signature" in part && part.signature
      ? [`${part.kind} ${part.signature.format}/${part.signature.issuer} ${part.signature.value}`]
      : []
  );
}

/** The next request of a caller that sends its history back like the format's official client. */
function nextRequest(form: CallerFormatName, body: JsonObject): JsonObject {
  const results = ["call_1", "call_2"];
  // deno-lint-ignore no-explicit-any -- a reply's shape is what the client knows
  const reply = body as any;
  switch (form) {
    case "chat": {
      const { message } = reply.choices[0];
      const answers = results.map((id) => ({ role: "tool", tool_call_id: id, content: "ok" }));
      return { model: "a/m", messages: [{ role: "user", content: "Hi" }, message, ...answers] };
    }
    case "responses": {
      const answers = results.map((id) => ({ type: "function_call_output", call_id: id, output: "ok" }));
      return { model: "a/m", input: [{ role: "user", content: "Hi" }, ...reply.output, ...answers] };
    }
    case "messages": {
      const answers = results.map((id) => ({ type: "tool_result", tool_use_id: id, content: "ok" }));
      const turn = { role: "assistant", content: reply.content };
      return {
        model: "a/m",
        max_tokens: 9,
        messages: [{ role: "user", content: "Hi" }, turn, { role: "user", content: answers }],
      };
    }
    case "content": {
      const answers = results.map((id) => ({ functionResponse: { id, name: "look", response: { output: "ok" } } }));
      const hi = { role: "user", parts: [{ text: "Hi" }] };
      return { model: "a/m", contents: [hi, reply.candidates[0].content, { role: "user", parts: answers }] };
    }
  }
}

/** The reply that the format's official client joins from a stream. */
function joinedBy(form: Exclude<CallerFormatName, "chat">, data: readonly JsonObject[]): JsonObject {
  // deno-lint-ignore no-explicit-any -- a stream's shape is what the client knows
  const chunks = data as any[];
  if (form === "responses") return chunks.at(-1).response;
  if (form === "content") {
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0].content.parts ?? []);
    return { candidates: [{ content: { role: "model", parts } }] };
  }
  return { content: blocksOf(chunks) };
}

// deno-lint-ignore no-explicit-any -- as above
function blocksOf(chunks: readonly any[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const { type, index, content_block: block, delta } of chunks) {
    if (type === "content_block_start") blocks[index] = { ...block, json: "" };
    if (type !== "content_block_delta") continue;
    const open = itemAt(blocks, index);
    if (delta.type === "signature_delta") open.signature = delta.signature;
    else if (delta.type === "thinking_delta") open.thinking += delta.thinking;
    else if (delta.type === "text_delta") open.text += delta.text;
    else open.json += delta.partial_json;
  }
  return blocks.map(({ json, ...block }) =>
    block.type === "tool_use" ? { ...block, input: JSON.parse(json as string || "{}") } : block
  );
}

function assertComesHome(from: CallerFormatName, to: CallerFormatName, body: JsonObject): void {
  const read = readChecked(CODECS[to].caller, nextRequest(to, serialized(body)));
  const turn = read.turns.find(({ role }) => role === "assistant")!;
  assertEquals(signaturesOf(turn.parts), signaturesOf(replyFrom(from).parts));
  assertEquals(turn.parts.filter(isToolCall).map((call) => call.callId), ["call_1", "call_2"]);
  const home = writtenFor(from, read, ISSUER);
  for (const signature of valuesOf(from)) assert(home.includes(signature), `a proof was lost or changed: ${signature}`);
  const elsewhere = writtenFor(from, read, "other");
  for (const signature of valuesOf(from)) {
    assert(!elsewhere.includes(signature), `a proof went to who cannot read it: ${signature}`);
  }
  for (const other of FORMATS.filter((form) => form !== from)) {
    const foreign = writtenFor(other, read, ISSUER);
    for (const signature of valuesOf(from)) {
      assert(!foreign.includes(signature), `a proof of ${from} went out as ${other}`);
    }
  }
}

/** The values of all signatures in a reply, as they occur in a request. */
function valuesOf(form: CallerFormatName): string[] {
  return replyFrom(form).parts.flatMap((part) => {
    if (!("signature" in part) || !part.signature) return [];
    return [form === "chat" ? JSON.parse(part.signature.value).signature : part.signature.value];
  });
}

function writtenFor(form: CallerFormatName, conversation: Conversation, provider: string): string {
  const asked = { ...conversation, reasoning: REQUEST.reasoning, tools: REQUEST.tools };
  // Only compatible vendors of the chat format return reasoning.
  const target = { ...TARGETS[form], provider, quirks: form === "chat" ? RESEMBLING_QUIRKS : NO_QUIRKS };
  return JSON.stringify(throughFormat(form, asked, target).body);
}

for (const from of FORMATS) {
  for (const to of FORMATS) {
    Deno.test(`a signature issued in ${from} returns byte for byte after a caller of ${to} replays its history`, () => {
      assertComesHome(from, to, CODECS[to].caller.writeReply(replyFrom(from), CONTEXT).body);
    });

    // Clients of the chat format join only OpenAI's own fields; the gateway stores signatures for them.
    if (to === "chat") continue;
    Deno.test(`a signature issued in ${from} and streamed to a caller of ${to} returns byte for byte`, () => {
      const frames = framesOf(to, streamOf(replyFrom(from)), CONTEXT).filter(({ data }) => data !== "[DONE]");
      assertComesHome(from, to, joinedBy(to, frames.map(({ data }) => JSON.parse(data))));
    });
  }
}
