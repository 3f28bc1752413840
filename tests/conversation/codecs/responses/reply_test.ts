import { FailedReply } from "../../../../src/conversation/parts/reply/failed_reply.ts";
import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { responses } from "../../../../src/conversation/codecs/responses/mod.ts";
import type { Reply, ReplyPart } from "../../../../src/conversation/neutral/reply.ts";
import { NO_USAGE } from "../../../../src/conversation/neutral/usage.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { NO_SAMPLING, type Part } from "../../../../src/conversation/neutral/conversation.ts";
import { conversationOf } from "../../../support/conversations.ts";
import { itemAt } from "../../../support/items.ts";
import { CONTEXT } from "./context.ts";

const REPLY: Reply = {
  id: "chatcmpl-1",
  model: "vendor",
  createdAt: null,
  parts: [],
  stop: { reason: "end", raw: null },
  usage: null,
  unsupportedFields: [],
};

function outputOf(...parts: ReplyPart[]): JsonObject[] {
  return responses.caller.writeReply({ ...REPLY, parts }, CONTEXT).body.output as JsonObject[];
}

Deno.test("readReply() rejects input that is not a response, and unfinished responses", () => {
  for (const body of ["<html>", null, {}, [], { choices: [] }, { error: { message: "x" } }, { output: [] }]) {
    assertThrows(() => responses.upstream.readReply(body), TypeError);
  }
  for (const status of ["queued", "in_progress"]) {
    assertThrows(() => responses.upstream.readReply({ object: "response", status, output: [] }), TypeError, status);
  }
});

Deno.test("readReply() reads a failed response as a failure with its code and words", () => {
  const error = { code: "rate_limit_exceeded", message: "Slow down" };
  const read = (status: string) =>
    assertThrows(() => responses.upstream.readReply({ object: "response", status, output: [], error }), FailedReply);
  assertEquals(read("failed").failure, {
    type: "error",
    message: "Slow down",
    vendorCode: "rate_limit_exceeded",
    status: 429,
  });
  assertEquals(read("cancelled").failure.message, "The provider cancelled the response");
});

Deno.test("readReply() reports a vendor's own items and keeps the sources of its text", () => {
  const reply = responses.upstream.readReply({
    object: "response",
    id: "resp_1",
    status: "completed",
    output: [
      { type: "file_search_call", id: "fs_1" },
      {
        type: "message",
        content: [
          { type: "output_text", text: "see", annotations: [{ type: "url_citation", url: "https://a.example" }] },
          { type: "hologram" },
        ],
      },
    ],
  });
  assertEquals(reply.parts, [{
    kind: "text",
    text: "see",
    citations: [{ url: "https://a.example", title: null, start: null, end: null }],
  }]);
  assertEquals(reply.unsupportedFields, ["output.file_search_call", "output.content.hologram"]);
});

Deno.test("readUsage() separates cached tokens, and uses a larger total", () => {
  const usage = (fields: JsonObject) => responses.upstream.readUsage({ usage: fields });
  assertEquals(
    usage({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 120,
    }),
    { ...NO_USAGE, freshTokens: 30, cacheReadTokens: 60, cacheWrite5mTokens: 10, outputTokens: 20, reasoningTokens: 5 },
  );
  const apart = usage({
    input_tokens: 10,
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 7 },
    total_tokens: 20,
  });
  assertEquals([apart?.outputTokens, apart?.reasoningTokens], [10, 7]);
  assertEquals(usage({ input_tokens: -4, output_tokens: "9", total_tokens: 1e18 }), {
    ...NO_USAGE,
    isUnreadable: true,
  });
  assertEquals(usage({ input_tokens: 1.5, output_tokens: 9 })?.isUnreadable, true);
  assertEquals(responses.upstream.readUsage({ usage: null }), null);
});

Deno.test("the responses watcher reads only the last event, which also marks a complete stream", () => {
  const follower = responses.passThrough.watch({});
  assertEquals(follower.isRelevant('{"type":"response.output_text.delta","delta":"usage"}'), false);
  assertEquals(follower.isComplete(), false);
  const quoted = '{"type":"response.output_text.delta","delta":"\\"response.completed\\""}';
  if (follower.isRelevant(quoted)) follower.observe(quoted);
  assertEquals(follower.isComplete(), false);
  const last = '{"type": "response.completed", "response": {"usage": {"input_tokens": 3, "output_tokens": 4}}}';
  assert(follower.isRelevant(last));
  follower.observe("{broken");
  follower.observe(last);
  assertEquals(follower.isComplete(), true);
  assertEquals(follower.usage(), { ...NO_USAGE, freshTokens: 3, outputTokens: 4 });
});

Deno.test("writeReply() makes ids from the request id and keeps the vendor's own if it has this format", () => {
  const part: ReplyPart = { kind: "text", text: "hi" };
  const { body } = responses.caller.writeReply({ ...REPLY, parts: [part] }, CONTEXT);
  assertEquals(body.id, "resp_0123456789abcdef01234567");
  assertEquals(body.created_at, CONTEXT.createdAt);
  assertEquals(body.model, CONTEXT.model);
  assertEquals((body.output as JsonObject[])[0]?.id, "msg_0123456789abcdef012345670000");
  assertEquals(responses.caller.writeReply({ ...REPLY, id: "resp_up" }, CONTEXT).body.id, "resp_up");
});

Deno.test("signatures of calls, texts and redacted reasoning return through a client's history", () => {
  const signature = { format: "content", issuer: "google", value: "dGhvdWdodA==" } as const;
  const parts: ReplyPart[] = [
    {
      kind: "reasoning",
      text: "",
      redacted: true,
      signature: { format: "messages", issuer: "anthropic", value: "EmkK" },
    },
    { kind: "reasoning", text: "hm", signature: { format: "messages", issuer: "anthropic", value: "c2ln" } },
    { kind: "text", text: "calling", signature },
    { kind: "tool_call", callId: "a.7", tool: "f", input: "{}", signature: { ...signature, value: "Zmlyc3Q=" } },
    { kind: "tool_call", callId: "b", tool: "f", input: "{}" },
  ];
  const output = outputOf(...parts);
  assertEquals(output.map(({ type }) => type), [
    "reasoning",
    "reasoning",
    "message",
    "reasoning",
    "reasoning",
    "function_call",
    "function_call",
  ]);
  const { turns } = readChecked(responses.caller, { model: "m", input: [{ role: "user", content: "x" }, ...output] });
  const withoutId = (part: Part) => part.kind === "reasoning" ? { ...part, id: undefined } : part;
  assertEquals(itemAt(turns, 1).parts.map(withoutId), parts.map(withoutId));
});

Deno.test("writeReply() leaves out a call that a limit cut off and reports the limit", () => {
  const half: ReplyPart = { kind: "tool_call", callId: "c", tool: "f", input: '{"a"' };
  const { body } = responses.caller.writeReply(
    { ...REPLY, parts: [half], stop: { reason: "max_tokens", raw: null } },
    CONTEXT,
  );
  assertEquals([body.status, body.incomplete_details, body.output], [
    "incomplete",
    { reason: "max_output_tokens" },
    [],
  ]);
});

Deno.test("writeReply() reports unsupported parts", () => {
  const linked: ReplyPart = { kind: "image", source: { kind: "url", url: "https://a.example", mediaType: null } };
  const stop = { reason: "stop_sequence", raw: null, sequence: "END" } as const;
  assertEquals(responses.caller.writeReply({ ...REPLY, parts: [linked], stop }, CONTEXT).droppedFields, [
    "stop_sequence",
    "image",
  ]);
});

Deno.test("writeError() writes a type for every code, and an upstream's own code for its 4xx", () => {
  const types = Object.entries({
    invalid_request: "invalid_request_error",
    invalid_provider_type: "invalid_provider_type",
    invalid_api_key: "authentication_error",
    upstream_auth_failed: "upstream_auth_failed",
    insufficient_credits: "insufficient_credits",
    permission_denied: "permission_error",
    model_not_found: "not_found_error",
    request_too_large: "invalid_request_error",
    rate_limited: "rate_limit_error",
    route_error: "upstream_error",
    upstream_timeout: "upstream_error",
    internal_error: "api_error",
  }) as [ConstructorParameters<typeof GatewayError>[0], string][];
  for (const [code, type] of types) {
    const body = responses.caller.writeError(new GatewayError(code, "m"), "req_1");
    assertEquals(body, { error: { message: "m", type, code, param: null } });
  }
  const details = { field: "input", vendorCode: "context_length_exceeded" };
  const own = responses.caller.writeError(new GatewayError("invalid_request", "m", details), "req_1");
  assertEquals(own.error, {
    message: "m",
    type: "invalid_request_error",
    code: "context_length_exceeded",
    param: "input",
  });
  const hidden = responses.caller.writeError(new GatewayError("upstream_error", "m", { vendorCode: "x" }), "req_1");
  assertEquals((hidden.error as JsonObject).code, "upstream_error");
});

Deno.test("readError() reads every shape of an error body and ignores others", () => {
  const full = { message: "no", type: "invalid_request_error", code: "bad", param: "input" };
  const expected = { message: "no", code: "bad", field: "input", retryAfterSeconds: null };
  assertEquals(responses.upstream.readError({ error: full }), expected);
  assertEquals(responses.upstream.readError([{ error: full }]), expected);
  assertEquals(responses.upstream.readError(full), expected);
  assertEquals(responses.upstream.readError({ error: { ...full, code: null } }).code, "invalid_request_error");
  assertEquals(responses.upstream.readError({ error: { ...full, code: 404 } }).code, "404");
  assertEquals(responses.upstream.readError({ error: "plain words" }).message, "plain words");
  assertEquals(responses.upstream.readError({ detail: "not found" }).message, "not found");
  assertEquals(responses.upstream.readError({ object: "response", error: full }).message, "no");
  for (const junk of ["<html><body>502</body></html>", null, 5, {}, [], { error: null }, { error: { message: 7 } }]) {
    assertEquals(responses.upstream.readError(junk), { message: "", code: null, field: null, retryAfterSeconds: null });
  }
});

Deno.test("readError() finds the delay in a rate limit's message", () => {
  const wait = (text: string) => responses.upstream.readError({ error: { message: text } }).retryAfterSeconds;
  assertEquals(wait("Rate limit reached. Please try again in 1.5s."), 2);
  assertEquals(wait("Please try again in 320ms. Visit"), 1);
  assertEquals(wait("Please try again in 2m"), 120);
  assertEquals(wait("Please try again later"), null);
});

Deno.test("a response object has every field that the open specification requires, also empty ones", () => {
  const required = [
    ...["id", "object", "created_at", "completed_at", "status", "incomplete_details", "model", "previous_response_id"],
    ...[
      "instructions",
      "output",
      "error",
      "tools",
      "tool_choice",
      "truncation",
      "parallel_tool_calls",
      "text",
      "top_p",
    ],
    ...["presence_penalty", "frequency_penalty", "top_logprobs", "temperature", "reasoning", "usage", "metadata"],
    ...["max_output_tokens", "max_tool_calls", "store", "background", "service_tier", "safety_identifier"],
    "prompt_cache_key",
  ];
  const { body } = responses.caller.writeReply(REPLY, CONTEXT);
  for (const name of required) assert(name in body, name);
  assertEquals([body.presence_penalty, body.frequency_penalty], [0, 0]);
});

Deno.test("a response object repeats penalties, tools without a description and output formats in full", () => {
  const parameters = { type: "object", properties: {} };
  const conversation = conversationOf({
    sampling: { ...NO_SAMPLING, presencePenalty: 0.5, frequencyPenalty: -1 },
    tools: [{ kind: "function", name: "look", description: null, parameters, strict: null }],
    outputFormat: { kind: "json_schema", name: "shape", description: null, schema: parameters, strict: null },
  });
  const { body } = responses.caller.writeReply(REPLY, { ...CONTEXT, conversation });
  assertEquals([body.presence_penalty, body.frequency_penalty], [0.5, -1]);
  const tool = itemAt(body.tools as JsonObject[], 0);
  assertEquals([tool.description, tool.strict, Object.keys(tool).includes("description")], [null, false, true]);
  const { format } = body.text as { format: JsonObject };
  assertEquals([format.description, format.strict, format.name], [null, false, "shape"]);
});
