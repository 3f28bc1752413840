import { eventReaderOf } from "../../../support/event_reader.ts";
import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { content, needsInlining } from "../../../../src/conversation/codecs/content/mod.ts";
import type { Reply } from "../../../../src/conversation/neutral/reply.ts";
import { NO_USAGE, promptTokensOf } from "../../../../src/conversation/neutral/usage.ts";
import { replyOf } from "../../../support/assemble.ts";
import { minRecordings } from "../../../support/recordings.ts";
import { contentRecordings } from "./recordings.ts";
import { targetOf } from "../../../support/conversations.ts";

const recordings = contentRecordings();

/** The expected contents of a reply, read from its chunks without the codec. */
interface Extract {
  text: string;
  thoughts: string;
  calls: string[];
  images: number;
  signatures: number;
  finishReason: string | null;
  total: number;
}

// deno-lint-ignore no-explicit-any -- recorded bodies are looked at freely here
function extractOf(chunks: readonly any[]): Extract {
  const found: Extract = {
    text: "",
    thoughts: "",
    calls: [],
    images: 0,
    signatures: 0,
    finishReason: null,
    total: 0,
  };
  for (const chunk of chunks) {
    const candidate = chunk.candidates?.[0];
    for (const part of candidate?.content?.parts ?? []) {
      if (part.text !== undefined) found[part.thought ? "thoughts" : "text"] += part.text;
      if (part.functionCall?.name) found.calls.push(part.functionCall.name);
      if (part.inlineData && !part.thought) found.images++;
      if (part.thoughtSignature && (part.text !== undefined || part.functionCall)) found.signatures++;
    }
    found.finishReason = candidate?.finishReason ?? found.finishReason;
    const usage = chunk.usageMetadata ?? {};
    if (usage.promptTokenCount !== undefined) {
      found.total = (usage.promptTokenCount ?? 0) + (usage.candidatesTokenCount ?? 0) +
        (usage.thoughtsTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
    }
  }
  return found;
}

function assertHolds(reply: Reply, expected: Extract, name: string): void {
  const textOf = (kind: "text" | "reasoning") =>
    reply.parts.map((part) => part.kind === kind ? part.text : "").join("");
  assertEquals(textOf("text"), expected.text, name);
  assertEquals(textOf("reasoning"), expected.thoughts, name);
  const calls = reply.parts.filter((part) => part.kind === "tool_call");
  assertEquals(calls.map((call) => call.tool), expected.calls, name);
  for (const call of calls) JSON.parse(call.input);
  assertEquals(reply.parts.filter((part) => part.kind === "image").length, expected.images, name);
  assertEquals(
    reply.parts.filter((part) => part.kind !== "image" && "signature" in part).length,
    expected.signatures,
    name,
  );
  assertEquals(reply.stop.raw, expected.finishReason, name);
  const usage = reply.usage ?? NO_USAGE;
  assertEquals(promptTokensOf(usage) + usage.outputTokens, expected.total, name);
}

function replyOfChunks(chunks: readonly JsonObject[]): Reply {
  const reader = eventReaderOf(content);
  const events = chunks.flatMap((chunk) => reader.read({ event: null, data: JSON.stringify(chunk) }));
  return replyOf([...events, ...reader.end()]);
}

Deno.test({
  name: "readReply keeps text, thoughts, calls, pictures, stop and usage of every recorded reply",
  fn() {
    const wholes = recordings.filter((recording) => recording.whole !== null);
    assert(wholes.length > minRecordings(60));
    for (const { name, whole } of wholes) assertHolds(content.upstream.readReply(whole), extractOf([whole]), name);
  },
});

Deno.test({
  name: "eventReader keeps the same of every recorded stream",
  fn() {
    const streams = recordings.filter((recording) => recording.chunks !== null);
    assert(streams.length > minRecordings(15));
    for (const { name, chunks } of streams) assertHolds(replyOfChunks(chunks!), extractOf(chunks!), name);
  },
});

Deno.test({
  name: "eventReader reads one chunk of a whole reply as readReply does",
  fn() {
    for (const recording of recordings) {
      if (recording.whole === null) continue;
      // A reply without an id gets a random one, which determines the ids of its calls.
      const { name, whole } = { ...recording, whole: { responseId: "r", ...recording.whole } };
      assertEquals(replyOfChunks([whole]), { ...content.upstream.readReply(whole), unsupportedFields: [] }, name);
    }
  },
});

Deno.test({
  name: "usageFollower finds the usage and the end of every recorded stream as the reader does",
  fn() {
    for (const { name, chunks } of recordings) {
      if (chunks === null) continue;
      const follower = content.passThrough.watch({});
      for (const data of chunks.map((chunk) => JSON.stringify(chunk))) {
        if (follower.isRelevant(data)) follower.observe(data);
      }
      assertEquals(follower.usage(), replyOfChunks(chunks).usage, name);
      assert(follower.isComplete(), name);
    }
  },
});

Deno.test({
  name: "readRequest accepts every recorded request, and what it reads can be written and read again",
  fn() {
    const target = targetOf({ model: "gemini-3-pro", provider: "google", hasWebSearch: true });
    let count = 0;
    for (const { name, request } of recordings) {
      if (request === null) continue;
      const read = readChecked(content.caller, { ...request, model: "google/gemini-3-pro" });
      // Addresses that this vendor cannot fetch are inlined before a request is written.
      if (read.turns.some((turn) => turn.parts.some((part) => "source" in part && needsInlining(part.source)))) {
        continue;
      }
      const { body } = content.upstream.writeRequest(read, target);
      const again = readChecked(content.caller, { ...body, model: "google/gemini-3-pro" });
      assertEquals(again.instructions, read.instructions, name);
      assertEquals(again.tools.map((tool) => tool.name), read.tools.map((tool) => tool.name), name);
      assertEquals(again.sampling, read.sampling, name);
      const fillers = read.turns[0]?.role === "user" ? 0 : 1;
      assertEquals(again.turns.slice(fillers), read.turns, name);
      count++;
    }
    assert(count > minRecordings(60));
  },
});
