import { assertEquals } from "@std/assert";
import type { ReplyContext } from "../../src/conversation/contract/caller_format.ts";
import type { Frame } from "../../src/platform/lib/streams/frame.ts";
import type { Reply, StopReason } from "../../src/conversation/neutral/reply.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { promptTokensOf } from "../../src/conversation/neutral/usage.ts";
import { encodeFrames } from "../../src/platform/lib/streams/sse.ts";
import { replyOf } from "../support/assemble.ts";
import { CODECS, eventsIn, framesOf, PAIRS } from "../support/formats.ts";
import { minRecordings, type Recording, recordings } from "../support/recordings.ts";
import { anthropicMessages } from "./clients/anthropic_messages.ts";
import type { Answer, Client } from "./clients/client.ts";
import { googleContent } from "./clients/google_content.ts";
import { openaiChat } from "./clients/openai_chat.ts";
import { openaiResponses } from "./clients/openai_responses.ts";

const CLIENTS: Readonly<Record<CallerFormatName, Client>> = {
  chat: openaiChat,
  responses: openaiResponses,
  messages: anthropicMessages,
  content: googleContent,
};

/** Each client's stop reasons; of those that all formats have. */
const STOPS: Readonly<Record<CallerFormatName, Partial<Record<StopReason, string>>>> = {
  chat: { end: "stop", stop_sequence: "stop", tool_calls: "tool_calls", max_tokens: "length" },
  responses: { end: "completed", stop_sequence: "completed", tool_calls: "completed", max_tokens: "incomplete" },
  messages: { end: "end_turn", stop_sequence: "stop_sequence", tool_calls: "tool_use", max_tokens: "max_tokens" },
  content: { end: "STOP", stop_sequence: "STOP", tool_calls: "STOP", max_tokens: "MAX_TOKENS" },
};

const CONTEXT: ReplyContext = {
  model: "sandbox/recorded",
  requestId: "req_0123456789abcdef01234567",
  createdAt: 1_760_000_000,
  conversation: null,
  includeUsage: true,
};

/** A recorded reply in neutral types, and as a format writes it. */
interface Rewritten {
  readonly reply: Reply;
  readonly bytes: Uint8Array<ArrayBuffer> | string;
  readonly isStream: boolean;
}

/**
 * Returns null for recordings without a reply: a stream that reports a failure, or a response that was only started.
 */
function rewritten({ form, whole, frames }: Recording, to: CallerFormatName): Rewritten | null {
  if (whole !== null) {
    if (whole.status === "queued" || whole.status === "in_progress") return null;
    const reply = CODECS[form].upstream.readReply(whole);
    return { reply, bytes: JSON.stringify(CODECS[to].caller.writeReply(reply, CONTEXT).body), isStream: false };
  }
  const events = eventsIn(form, frames as Frame[]);
  if (events.at(-1)?.type !== "finish") return null;
  return { reply: replyOf(events), bytes: encodeFrames(framesOf(to, events, CONTEXT)), isStream: true };
}

let served: Rewritten;
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  await request.body?.cancel();
  return new Response(served.bytes, {
    headers: { "content-type": served.isStream ? "text/event-stream" : "application/json" },
  });
});

/** The parts of a reply that a client must return. */
function shownOf({ parts, stop, usage }: Reply, to: CallerFormatName) {
  return {
    text: parts.map((part) => part.kind === "text" ? part.text : "").join(""),
    calls: parts.flatMap((part) =>
      part.kind === "tool_call" ? [{ name: part.tool, input: JSON.parse(part.input || "{}") }] : []
    ),
    stop: STOPS[to][stop.reason],
    ...(usage && { promptTokens: promptTokensOf(usage), outputTokens: usage.outputTokens }),
  };
}

function shownBy({ text, calls, stop, tokens }: Answer, reply: Reply, to: CallerFormatName) {
  // The content format counts the tokens of a vendor's own tools separately.
  const apart = to === "content" ? reply.usage?.toolPromptTokens ?? 0 : 0;
  return {
    text,
    calls: calls.map(({ name, input }) => ({ name, input })),
    stop: STOPS[to][reply.stop.reason] === undefined ? undefined : stop,
    ...(reply.usage && {
      promptTokens: tokens.fresh + tokens.cacheRead + tokens.cacheWrite + apart,
      outputTokens: tokens.output,
    }),
  };
}

/** Free text and truncated calls have no arguments that every format supports. */
function isComparable({ parts }: Reply): boolean {
  return parts.every((part) => {
    if (part.kind === "refusal") return false;
    if (part.kind !== "tool_call") return true;
    if (part.custom) return false;
    try {
      return typeof JSON.parse(part.input || "{}") === "object";
    } catch {
      return false;
    }
  });
}

const all = recordings();

for (const [from, to] of PAIRS) {
  Deno.test({
    name: `every recorded ${from} reply reads the same with the client of ${to}`,
    sanitizeResources: false,
    sanitizeOps: false,
    async fn() {
      const talkTo = { address: `http://127.0.0.1:${server.addr.port}`, key: "none", model: CONTEXT.model };
      const failed: string[] = [];
      let compared = 0;
      for (const recording of all.filter(({ form }) => form === from)) {
        const written = rewritten(recording, to);
        if (written === null || !isComparable(written.reply)) continue;
        served = written;
        compared++;
        try {
          const said = { kind: "user", text: "?" } as const;
          const answer = await CLIENTS[to].open(talkTo).send(said, { stream: written.isStream });
          assertEquals(shownBy(answer, written.reply, to), shownOf(written.reply, to));
        } catch (error) {
          failed.push(`${recording.name}: ${(error as Error).message}`);
        }
      }
      assertEquals(failed, [], `${failed.length} of ${compared} differ`);
      assertEquals(compared > minRecordings(10), true, `${compared} were compared`);
    },
  });
}

Deno.test({
  name: "the server of recorded replies stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => server.shutdown(),
});
