import { eventReaderOf } from "../../../support/event_reader.ts";
import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import {
  messages,
  readCount,
  readCountRequest,
  writeCountRequest,
} from "../../../../src/conversation/codecs/messages/mod.ts";
import type { Reply } from "../../../../src/conversation/neutral/reply.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { asCounted, replyOf } from "../../../support/assemble.ts";
import { itemAt } from "../../../support/items.ts";
import { minRecordings, namesIn, RECORDING_FOLDERS, RECORDINGS } from "../../../support/recordings.ts";
import { contextWith, targetWith } from "./samples.ts";

interface Exchange {
  readonly name: string;
  readonly path: string;
  readonly request: JsonObject;
  readonly status: number;
  readonly body: unknown;
  readonly text: string | undefined;
}

/** Every recorded file of a folder. */
function filesIn(folder: string, ending: string): [name: string, text: string][] {
  return RECORDING_FOLDERS.map((root) => `${root}/${folder}`).flatMap((path) =>
    namesIn(path).filter((name) => name.endsWith(ending))
      .map((name): [string, string] => [name, Deno.readTextFileSync(`${path}/${name}`)])
  );
}

function exchanges(): Exchange[] {
  const files = ["anthropic/exchanges", "cross-provider/exchanges"].flatMap((folder) => filesIn(folder, ".json"));
  const recorded = files.flatMap(([name, text]) =>
    JSON.parse(text).exchanges.map(({ request, response }: Record<"request" | "response", JsonObject>) => ({
      name,
      path: request.path,
      request: request.body,
      status: response.status,
      body: response.body,
      text: response.text,
    }))
  );
  return recorded.filter(({ path }) => path.startsWith("/v1/messages"));
}

function wholeReplies(): [name: string, body: JsonObject][] {
  const own = filesIn("anthropic", ".json").map(([name, text]): [string, JsonObject] => [name, JSON.parse(text)]);
  const recorded = exchanges().map(({ name, body }): [string, JsonObject] => [name, body as JsonObject]);
  return [...own, ...recorded].filter(([, body]) => body?.type === "message");
}

/** All streams as their payloads, one reply each. */
function streams(): [name: string, payloads: string[]][] {
  const own = filesIn("anthropic", ".chunks.txt").map(([name, text]): [string, string[]] => [name, text.split("\n")]);
  const recorded = exchanges().filter(({ text }) => text?.includes("message_start")).map((
    { name, text },
  ): [string, string[]] => [
    name,
    text!.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)),
  ]);
  return [...own, ...recorded].flatMap(([name, lines]) =>
    repliesIn(lines.filter((line) => line.trim() !== "")).map((payloads): [string, string[]] => [name, payloads])
  );
}

/** Splits a file with several replies. */
function repliesIn(lines: readonly string[]): string[][] {
  const replies: string[][] = [[]];
  for (const line of lines) {
    replies.at(-1)!.push(line);
    if (JSON.parse(line).type === "message_stop") replies.push([]);
  }
  return replies.filter((reply) => reply.length > 0);
}

function readStream(payloads: readonly string[]): Reply {
  const reader = eventReaderOf(messages);
  const events = payloads.flatMap((data) => reader.read({ event: JSON.parse(data).type, data }));
  return replyOf([...events, ...reader.end()]);
}

/** The contents of a reply, read from its blocks without the codec. */
interface Said {
  text: string;
  thought: string;
  proofs: string[];
  calls: unknown[];
  raw: unknown;
}

function saidInBlocks(blocks: readonly JsonObject[], raw: unknown): Said {
  const of = (type: string) => blocks.filter((block) => block.type === type);
  return {
    text: of("text").map((block) => block.text).join(""),
    thought: of("thinking").map((block) => block.thinking).join(""),
    proofs: [...of("thinking"), ...of("redacted_thinking")].map((block) => String(block.signature ?? block.data)),
    calls: of("tool_use").map(({ id, name, input }) => ({ id, name, input })),
    raw,
  };
}

function saidInPayloads(payloads: readonly string[]): Said {
  const blocks: JsonObject[] = [];
  const json: string[] = [];
  let raw: unknown = null;
  for (const { type, index, content_block: block, delta } of payloads.map((data) => JSON.parse(data))) {
    if (type === "content_block_start") blocks[index] = { ...block };
    if (type === "message_delta") raw = delta.stop_reason;
    if (type !== "content_block_delta") continue;
    const open = itemAt(blocks, index);
    if (delta.type === "text_delta") open.text += delta.text;
    if (delta.type === "thinking_delta") open.thinking += delta.thinking;
    if (delta.type === "signature_delta") open.signature = delta.signature;
    if (delta.type === "input_json_delta") json[index] = (json[index] ?? "") + delta.partial_json;
  }
  json.forEach((text, index) => itemAt(blocks, index).input = JSON.parse(text || "{}"));
  return saidInBlocks(blocks, raw);
}

function saidIn({ parts, stop }: Reply): Said {
  const thoughts = parts.filter((part) => part.kind === "reasoning");
  const shown = thoughts.filter((part) => !part.redacted);
  const hidden = thoughts.filter((part) => part.redacted);
  return {
    text: parts.map((part) => part.kind === "text" ? part.text : "").join(""),
    thought: shown.map((part) => part.text).join(""),
    proofs: [...shown, ...hidden].map((part) => part.signature!.value),
    calls: parts.filter((part) => part.kind === "tool_call")
      .map(({ callId, tool, input }) => ({ id: callId, name: tool, input: JSON.parse(input) })),
    raw: stop.raw,
  };
}

/** All tokens of the most complete report. */
function tokensIn(usage: JsonObject): number[] {
  const iterations = (usage.iterations ?? []) as JsonObject[];
  const reports = iterations.length > 1 && !iterations.some(({ type }) => type === "fallback_message")
    ? iterations
    : [usage];
  const sumOf = (...fields: string[]) =>
    reports.reduce((sum, report) => fields.reduce((inner, field) => inner + Number(report[field] ?? 0), sum), 0);
  return [
    sumOf("input_tokens"),
    sumOf("cache_read_input_tokens"),
    sumOf("cache_creation_input_tokens"),
    sumOf("output_tokens"),
  ];
}

function tokensOf({ usage }: Reply): number[] {
  assert(usage);
  return [
    usage.freshTokens,
    usage.cacheReadTokens,
    usage.cacheWrite5mTokens + usage.cacheWrite1hTokens,
    usage.outputTokens,
  ];
}

Deno.test({
  name: "messages codec reads every recorded reply without loss",
  fn() {
    const replies = wholeReplies();
    assert(replies.length > minRecordings(100));
    for (const [name, body] of replies) {
      const reply = messages.upstream.readReply(body);
      assertEquals(saidIn(reply), saidInBlocks(body.content as JsonObject[], body.stop_reason), name);
      assertEquals(tokensOf(reply), tokensIn(body.usage as JsonObject), name);
    }
  },
});

Deno.test({
  name: "messages codec reads every recorded stream without loss, and follows its usage",
  fn() {
    const recorded = streams();
    assert(recorded.length >= minRecordings(20));
    for (const [name, payloads] of recorded) {
      const reply = readStream(payloads);
      assertEquals(saidIn(reply), saidInPayloads(payloads), name);
      const follower = messages.passThrough.watch({});
      for (const data of payloads.filter((payload) => follower.isRelevant(payload))) follower.observe(data);
      assertEquals([follower.usage(), follower.isComplete()], [reply.usage, true], name);
      const last = JSON.parse(payloads.findLast((data) => data.includes('"message_delta"'))!).usage;
      assertEquals(tokensOf(reply)[3], tokensIn(last)[3], name);
    }
  },
});

Deno.test({
  name: "messages codec writes every recorded reply as it read it, whole and streamed",
  fn() {
    const replies = [
      ...wholeReplies().map(([, body]) => messages.upstream.readReply(body)),
      ...streams().map(([, payloads]) => readStream(payloads)),
    ];
    for (const reply of replies) {
      const { body } = messages.caller.writeReply(reply, contextWith());
      const again = messages.upstream.readReply(body);
      assertEquals({ ...saidIn(again), raw: null }, { ...saidIn(reply), raw: null });
      assertEquals([again.stop.reason, asCounted(again).usage], [reply.stop.reason, asCounted(reply).usage]);
    }
    for (const [name, payloads] of streams()) {
      const reader = eventReaderOf(messages);
      const writer = messages.caller.eventWriter(contextWith());
      const events = payloads.flatMap((data) => reader.read({ event: null, data }));
      const frames = events.flatMap((event) => writer.write(event)).map(({ data }) => data);
      assertEquals(saidInPayloads(frames), saidInPayloads(payloads), name);
    }
  },
});

/** The texts, calls and results in a request, in the format's own spelling. */
function heldIn(request: JsonObject): { texts: string[]; calls: unknown[]; results: unknown[]; tools: unknown[] } {
  const blocks = (request.messages as JsonObject[]).flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text", text: content }] : content as JsonObject[]
  );
  const inner = blocks.filter((block) => block.type === "tool_result").flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []) as JsonObject[]
  );
  const system = typeof request.system === "string"
    ? [{ text: request.system }]
    : (request.system ?? []) as JsonObject[];
  const documents = blocks.filter((block) => block.type === "document").map(({ source }) => source as JsonObject);
  return {
    texts: [
      ...[...blocks, ...inner, ...system].map((block) => block.text ?? block.tool_name),
      ...documents.map((source) => source.type === "text" ? source.data : null),
    ].filter((text) => typeof text === "string" && text !== "") as string[],
    calls: blocks.filter((block) => block.type === "tool_use").map(({ id, name, input }) => ({ id, name, input })),
    results: blocks.filter((block) => block.type === "tool_result").map(({ tool_use_id: id, is_error: failed }) => ({
      id,
      failed: failed === true,
    })),
    tools: ((request.tools ?? []) as JsonObject[]).filter((tool) => tool.input_schema).map((tool) => tool.name),
  };
}

Deno.test({
  name: "messages codec reads every recorded request and writes it back without losing words, calls or tools",
  fn() {
    let refused = 0;
    for (const { name, path, request } of exchanges()) {
      const counts = path.includes("count_tokens");
      const target = targetWith({ model: String(request.model), hasWebSearch: true });
      try {
        const conversation = counts ? readCountRequest(request) : readChecked(messages.caller, request);
        const { body } = counts
          ? writeCountRequest(conversation, target)
          : messages.upstream.writeRequest(conversation, target);
        if (!counts) messages.caller.check(body);
        const [before, after] = [heldIn(request), heldIn(body)];
        assertEquals(after.calls, before.calls, name);
        assertEquals(after.results, before.results, name);
        for (const tool of before.tools) assert(after.tools.includes(tool), name);
        for (const text of before.texts) assert(after.texts.some((written) => written.includes(text)), name);
        if (!conversation.unsupportedFields.some((field) => field.startsWith("messages."))) {
          assertEquals(body.max_tokens, request.max_tokens, name);
        }
      } catch (error) {
        // A file id is valid at its own vendor only.
        assert(error instanceof GatewayError && JSON.stringify(request).includes("file_id"), `${name}: ${error}`);
        refused++;
      }
    }
    assertEquals(refused, RECORDINGS === null ? 0 : 1);
  },
});

Deno.test({
  name: "messages codec reads every recorded error and count",
  fn() {
    for (const { name, path, status, body } of exchanges()) {
      if (status >= 400) {
        const { error } = body as { error: JsonObject };
        const { message, code } = messages.upstream.readError(body);
        assertEquals([message, code], [error.message, error.type], name);
      } else if (path.includes("count_tokens")) assert(readCount(body) > 0, name);
    }
  },
});
