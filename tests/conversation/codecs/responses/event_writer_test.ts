import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals } from "@std/assert";
import type { Frame } from "../../../../src/platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { responses } from "../../../../src/conversation/codecs/responses/mod.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { Stop } from "../../../../src/conversation/neutral/reply.ts";
import { NO_USAGE } from "../../../../src/conversation/neutral/usage.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { atLeast, itemAt } from "../../../support/items.ts";
import { CONTEXT } from "./context.ts";

const START: ReplyEvent = { type: "start", id: "resp_up", model: "m", createdAt: null, usage: null };

function finish(reason: Stop["reason"], extra: Partial<Stop> = {}): ReplyEvent {
  return { type: "finish", stop: { reason, raw: null, ...extra }, usage: NO_USAGE };
}

function framesOf(events: readonly ReplyEvent[]): Frame[] {
  const writer = responses.caller.eventWriter(CONTEXT);
  return events.flatMap((event) => writer.write(event));
}

function dataOf(frames: readonly Frame[]): JsonObject[] {
  return frames.map(({ data }) => JSON.parse(data));
}

function lastResponse(frames: readonly Frame[]): JsonObject {
  return dataOf(frames).at(-1)!.response as JsonObject;
}

const TEXT: readonly ReplyEvent[] = [
  START,
  { type: "part-start", index: 0, part: { kind: "text" } },
  { type: "part-delta", index: 0, text: "Hi" },
  { type: "part-end", index: 0 },
  finish("end"),
];

Deno.test("a text is written as the events that clients require, in order", () => {
  const frames = framesOf(TEXT);
  assertEquals(frames.map(({ event }) => event), [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  const data = dataOf(frames);
  assertEquals(data.map(({ type }) => type), frames.map(({ event }) => event));
  assertEquals(data.map((one) => one.sequence_number), data.map((_, index) => index));
});

Deno.test("the last event repeats the items with the ids that they were streamed with", () => {
  const frames = framesOf(TEXT);
  const data = dataOf(frames);
  const done = data.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
  assertEquals(lastResponse(frames).output, done);
  const ids = data.flatMap((one) => one.item_id ?? []);
  assertEquals(new Set(ids), new Set([(done[0] as JsonObject).id]));
  assertEquals(new Set(data.flatMap(({ response }) => (response as JsonObject)?.id ?? [])), new Set(["resp_up"]));
  assertEquals(frames, framesOf(TEXT));
});

Deno.test("the sources of a text are announced one by one and repeated with the whole text", () => {
  const citations = [{ url: "https://a.example", title: null, start: null, end: null }];
  const frames = framesOf(TEXT.map((event) => event.type === "part-end" ? { ...event, citations } : event));
  const annotation = { type: "url_citation", url: "https://a.example", title: "", start_index: 0, end_index: 2 };
  const added = dataOf(frames).find(({ type }) => type === "response.output_text.annotation.added");
  assertEquals([added?.annotation, added?.annotation_index], [annotation, 0]);
  const message = itemAt(lastResponse(frames).output as JsonObject[], 0);
  assertEquals((message.content as JsonObject[])[0]?.annotations, [annotation]);
});

Deno.test("a signature before a call's arguments is an item before the call, a late one before the next item", () => {
  const signature = { format: "content", issuer: "google", value: "dA==" } as const;
  const call = { kind: "tool_call", callId: "c", tool: "f" } as const;
  const open: ReplyEvent = { type: "part-start", index: 0, part: { ...call, isSigned: true } };
  const begun: ReplyEvent = { type: "part-start", index: 0, part: call };
  const proof: ReplyEvent = { type: "part-signature", index: 0, signature };
  const delta: ReplyEvent = { type: "part-delta", index: 0, text: '{"a":1}' };
  const end: ReplyEvent = { type: "part-end", index: 0 };
  const kinds = (...middle: ReplyEvent[]) =>
    (lastResponse(framesOf([START, ...middle, finish("end")])).output as JsonObject[]).map(({ type }) => type);
  assertEquals(kinds(open, proof, delta, end), ["reasoning", "function_call"]);
  const text: ReplyEvent = { type: "part-start", index: 1, part: { kind: "text" } };
  assertEquals(kinds(begun, delta, proof, end, text), ["function_call", "reasoning", "message"]);
  assertEquals(kinds(begun, delta, proof, end), ["function_call"]);
});

Deno.test("reasoning after other items becomes an item once it has text, and none if it ends a reply with only a signature", () => {
  const said = [
    { type: "part-start", index: 0, part: { kind: "text" } },
    { type: "part-delta", index: 0, text: "Hi" },
    { type: "part-signature", index: 0, signature: { format: "content", issuer: "google", value: "dA==" } },
    { type: "part-end", index: 0 },
  ] as const;
  const thought: ReplyEvent = { type: "part-start", index: 1, part: { kind: "reasoning" } };
  const signature = { format: "chat", issuer: "acme", value: "x" } as const;
  const proof: ReplyEvent = { type: "part-signature", index: 1, signature };
  const end: ReplyEvent = { type: "part-end", index: 1 };
  const outputOf = (...events: ReplyEvent[]) =>
    lastResponse(framesOf([START, ...said, ...events, finish("end")])).output as JsonObject[];
  assertEquals(outputOf(thought, proof, end).map(({ type }) => type), ["message"]);
  const words: ReplyEvent = { type: "part-delta", index: 1, text: "hm" };
  const [, ofText, ofThought] = atLeast(outputOf(thought, proof, words, end), 3);
  assertEquals([ofText.type, ofText.summary], ["reasoning", []]);
  assertEquals(ofThought.summary, [{ type: "summary_text", text: "hm" }]);
  assertEquals(typeof ofThought.encrypted_content, "string");
});

Deno.test("a call without arguments is written with an empty object, a custom one with its text", () => {
  const frames = framesOf([
    START,
    { type: "part-start", index: 0, part: { kind: "tool_call", callId: "a", tool: "f" } },
    { type: "part-end", index: 0 },
    { type: "part-start", index: 1, part: { kind: "tool_call", callId: "b", tool: "sql", custom: true } },
    { type: "part-delta", index: 1, text: "select 1" },
    { type: "part-end", index: 1 },
    finish("end"),
  ]);
  const [first, second] = atLeast(lastResponse(frames).output as JsonObject[], 2);
  assertEquals([first.arguments, first.status], ["{}", "completed"]);
  assertEquals([second.type, second.input], ["custom_tool_call", "select 1"]);
  const types = frames.map(({ event }) => event);
  assertEquals(types.includes("response.function_call_arguments.delta"), true);
  assertEquals(types.includes("response.custom_tool_call_input.done"), true);
});

Deno.test("two calls of one id get different ids, because clients reject the second", () => {
  const callOf = (index: number): ReplyEvent[] => [
    { type: "part-start", index, part: { kind: "tool_call", callId: "same", tool: "f" } },
    { type: "part-end", index },
  ];
  const { output } = lastResponse(framesOf([START, ...callOf(0), ...callOf(1), finish("tool_calls")]));
  assertEquals((output as JsonObject[]).map((item) => item.call_id), ["same", "same_2"]);
});

Deno.test("a call that a limit cut off is not closed and left out; other invalid arguments are written", () => {
  const broken: ReplyEvent[] = [
    START,
    { type: "part-start", index: 0, part: { kind: "tool_call", callId: "c", tool: "f" } },
    { type: "part-delta", index: 0, text: '{"a":' },
    { type: "part-end", index: 0 },
  ];
  const cut = framesOf([...broken, finish("max_tokens")]);
  assertEquals(cut.some(({ event }) => event === "response.output_item.done"), false);
  assertEquals(lastResponse(cut).output, []);
  const told = framesOf([...broken, finish("end")]);
  assertEquals((lastResponse(told).output as JsonObject[])[0]?.arguments, '{"a":');
});

Deno.test("every stop is converted", () => {
  const endOf = (event: ReplyEvent) => {
    const frames = framesOf([START, event]);
    const { status, incomplete_details: details, error } = lastResponse(frames);
    return [frames.at(-1)!.event, status, (details as JsonObject)?.reason, (error as JsonObject)?.code];
  };
  assertEquals(endOf(finish("end")), ["response.completed", "completed", undefined, undefined]);
  assertEquals(endOf(finish("stop_sequence")), ["response.completed", "completed", undefined, undefined]);
  assertEquals(endOf(finish("paused")), ["response.completed", "completed", undefined, undefined]);
  for (const reason of ["max_tokens", "context_full"] as const) {
    assertEquals(endOf(finish(reason)), ["response.incomplete", "incomplete", "max_output_tokens", undefined]);
  }
  assertEquals(endOf(finish("content_filter")), ["response.incomplete", "incomplete", "content_filter", undefined]);
  assertEquals(endOf(finish("prompt_blocked")), ["response.failed", "failed", undefined, "invalid_prompt"]);
  assertEquals(endOf(finish("bad_tool_call")), ["response.failed", "failed", undefined, "server_error"]);
});

Deno.test("a refusal without text is written as a refusal part", () => {
  const { output } = lastResponse(framesOf([START, finish("refusal", { explanation: "Not that." })]));
  assertEquals((output as JsonObject[])[0]?.content, [{ type: "refusal", refusal: "Not that." }]);
});

Deno.test("a failure is written twice, flat and nested, and nothing follows it", () => {
  const writer = responses.caller.eventWriter(CONTEXT);
  TEXT.slice(0, 3).forEach((event) => writer.write(event));
  const error = new GatewayError("rate_limited", "Slow down", { field: "input" });
  const [first, second] = atLeast(dataOf(writer.fail(error)), 2);
  assertEquals(first, {
    type: "error",
    code: "rate_limited",
    message: "Slow down",
    param: "input",
    error: { type: "rate_limit_error", code: "rate_limited", message: "Slow down", param: "input" },
    sequence_number: 5,
  });
  const failed = second.response as JsonObject;
  assertEquals([second.type, failed.status], ["response.failed", "failed"]);
  assertEquals(failed.error, { code: "rate_limit_exceeded", message: "Slow down", type: "rate_limit_error" });
  assertEquals((failed.output as JsonObject[])[0]?.status, "incomplete");
  assertEquals(writer.write(finish("end")), []);
  assertEquals(writer.fail(error), []);
});

Deno.test("a failure in the vendor's stream keeps its message, code and type", () => {
  const failure = { type: "error", message: "too long", vendorCode: "context_length_exceeded", status: 400 } as const;
  const [event, failed] = atLeast(dataOf(framesOf([START, failure]).slice(2)), 2);
  assertEquals((event.error as JsonObject).code, "context_length_exceeded");
  assertEquals(((failed.response as JsonObject).error as JsonObject).code, "context_length_exceeded");
  const vague = { type: "error", message: "busy", vendorCode: null, status: null } as const;
  assertEquals(dataOf(framesOf([START, vague]))[2]?.code, "upstream_error");
});

Deno.test("the response object repeats the settings of the request", () => {
  const conversation = readChecked(responses.caller, {
    model: "openai/m",
    input: "hi",
    instructions: "Be brief",
    temperature: 0.2,
    max_output_tokens: 50,
    parallel_tool_calls: false,
    reasoning: { effort: "low", summary: "auto" },
    text: { format: { type: "json_object" }, verbosity: "low" },
    tools: [{ type: "namespace", name: "mcp", tools: [{ type: "function", name: "find" }] }],
    tool_choice: "required",
    safety_identifier: "u",
  });
  const writer = responses.caller.eventWriter({ ...CONTEXT, conversation });
  const created = itemAt(dataOf(writer.write(START)), 0).response as JsonObject;
  assertEquals(created.status, "in_progress");
  assertEquals(created.usage, null);
  assertEquals(created.model, CONTEXT.model);
  assertEquals(created.instructions, "Be brief");
  assertEquals([created.temperature, created.top_p, created.max_output_tokens], [0.2, 1, 50]);
  assertEquals(created.text, { format: { type: "json_object" }, verbosity: "low" });
  assertEquals(created.reasoning, { effort: "low", summary: "auto" });
  assertEquals(created.tool_choice, "required");
  assertEquals((created.tools as JsonObject[])[0]?.name, "find");
  assertEquals(created.safety_identifier, "u");
  writer.write({ type: "part-start", index: 0, part: { kind: "tool_call", callId: "c", tool: "mcp/find" } });
  const item = dataOf(writer.write({ type: "part-end", index: 0 })).at(-1)!.item as JsonObject;
  assertEquals([item.name, item.namespace], ["find", "mcp"]);
});
