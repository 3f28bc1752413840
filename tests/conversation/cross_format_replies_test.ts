import { assert, assertEquals } from "@std/assert";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import { isToolCall, type Reply, type StopReason } from "../../src/conversation/neutral/reply.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { promptTokensOf } from "../../src/conversation/neutral/usage.ts";
import { replyOf } from "../support/assemble.ts";
import { conversationOf, replyContextOf } from "../support/conversations.ts";
import { CODECS, eventsIn, PAIRS, writtenAsStream, writtenWhole } from "../support/formats.ts";
import { minRecordings, type Recording, recordings } from "../support/recordings.ts";

const CONTEXT = replyContextOf({
  conversation: conversationOf({ reasoning: { effort: "medium", budgetTokens: null, visible: true } }),
  includeUsage: true,
});

/** The stops that a caller of each format reads where the format has no equivalent. */
const STOPS: Readonly<Record<CallerFormatName, Partial<Record<StopReason, StopReason>>>> = {
  chat: {
    stop_sequence: "end",
    context_full: "max_tokens",
    prompt_blocked: "content_filter",
    bad_tool_call: "end",
    paused: "end",
  },
  responses: { stop_sequence: "end", context_full: "max_tokens", prompt_blocked: "content_filter", paused: "end" },
  messages: {
    stop_sequence: "end", // without the sequence
    content_filter: "refusal",
    prompt_blocked: "refusal",
    bad_tool_call: "end",
  },
  content: { stop_sequence: "end", context_full: "max_tokens", refusal: "content_filter", paused: "end" },
};

interface Told {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly unknown[];
  readonly images: number;
  readonly stop: StopReason;
  readonly usage: readonly number[] | null;
}

function toldBy({ parts, stop, usage }: Reply): Told {
  const textOf = (kinds: string[]) =>
    parts.map((part) => kinds.includes(part.kind) && "text" in part ? part.text : "").join("").replaceAll(/\s/g, "");
  return {
    text: textOf(["text", "refusal"]),
    thoughts: textOf(["reasoning"]),
    calls: parts.filter(isToolCall).map((
      call,
    ) => [call.tool, call.custom ? { input: call.input } : valueOf(call.input)]),
    images: parts.filter((part) => part.kind === "image").length,
    stop: stop.reason,
    usage: usage && [promptTokensOf(usage), usage.cacheReadTokens, usage.outputTokens, usage.reasoningTokens],
  };
}

/** The input of a call as each format represents it: some wrap input that is not an object. */
function valueOf(input: string): unknown {
  try {
    return JSON.parse(input || "{}");
  } catch {
    return { _raw: input };
  }
}

function expected(reply: Reply, to: CallerFormatName): Told {
  const told = toldBy(reply);
  const hasCall = reply.parts.some(isToolCall);
  const hasRefusal = reply.parts.some((part) => part.kind === "refusal");
  const stop = STOPS[to][told.stop] ?? told.stop;
  if (stop === "refusal" && !hasRefusal && to !== "messages") return { ...told, ...refusedIn(to, reply) };
  return {
    ...told,
    images: to === "messages" ? 0 : told.images,
    stop: stop === "end" && hasCall
      ? "tool_calls"
      : stop === "end" && hasRefusal && to !== "content"
      ? "refusal"
      : stop,
  };
}

/** A refusal in formats without one: its explanation as text. Chat without a text reports a content filter. */
function refusedIn(to: CallerFormatName, { stop, parts }: Reply): Partial<Told> {
  const said = parts.map((part) => part.kind === "text" ? part.text : "").join("");
  if (stop.explanation === undefined && to === "chat") return { stop: "content_filter" };
  const text = said + (stop.explanation ?? "The model declined to answer");
  return { stop: "refusal", text: text.replaceAll(/\s/g, "") };
}

function assertTold(read: Reply, reply: Reply, to: CallerFormatName, name: string): void {
  const { usage, ...told } = toldBy(read);
  const { usage: spent, ...wanted } = expected(reply, to);
  assertEquals(told, wanted, name);
  // One format requires usage, and reports zeros when it is unknown.
  assertEquals(spent === null ? null : usage, spent, name);
}

/** A recorded reply in the neutral form; null when it was not finished or the stream was cut off. */
function replyIn({ form, whole, frames }: Recording): { reply: Reply; events: ReplyEvent[] | null } | null {
  if (whole?.status === "queued" || whole?.status === "in_progress") return null;
  if (frames === null) return { reply: CODECS[form].upstream.readReply(whole), events: null };
  const events = eventsIn(form, frames);
  return events.at(-1)?.type === "finish" ? { reply: replyOf(events), events } : null;
}

const told = recordings().map((recording) => ({ ...recording, ...replyIn(recording) }));

for (const [from, to] of PAIRS) {
  const own = told.filter(({ form, reply }) => form === from && reply !== undefined);

  Deno.test({
    name: `every recorded ${from} reply tells a caller of ${to} the same, whole`,
    fn() {
      assert(own.length > minRecordings(80));
      for (const { name, reply } of own) assertTold(writtenWhole(to, reply!, CONTEXT), reply!, to, name);
    },
  });

  Deno.test({
    name: `every recorded ${from} stream tells a caller of ${to} the same, streamed as whole`,
    fn() {
      const streams = own.filter(({ events }) => events !== null && events !== undefined);
      assert(streams.length > minRecordings(8));
      for (const { name, reply, events } of streams) {
        const streamed = writtenAsStream(to, events!, CONTEXT);
        assertTold(streamed, reply!, to, name);
        assertEquals(toldBy(streamed), toldBy(writtenWhole(to, reply!, CONTEXT)), name);
      }
    },
  });
}
