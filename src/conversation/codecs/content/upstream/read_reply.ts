import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { Citation } from "../../../neutral/conversation.ts";
import type { ReplyEvent } from "../../../neutral/events.ts";
import { FailedReply, unlisted } from "../../../parts/reply/failed_reply.ts";
import type { Reply, ReplyPart } from "../../../neutral/reply.ts";
import { emptyPart } from "../../../parts/reply/reply_events.ts";
import { citationsByPart, endReply, failureInChunk, isReply, readChunk } from "./event_reader.ts";
import { newProgress, type Progress } from "./progress.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { logprobsField } from "../../../neutral/logprobs.ts";

/**
 * Reads a whole reply, in the same way as a stream of one chunk.
 *
 * @throws {TypeError} If it is not a reply of this format, or an error in place of one.
 */
export function readReply(value: unknown): Reply {
  const body = unlisted(value);
  if (isObject(body) && isObject(body.error)) throw new FailedReply(failureInChunk(body));
  if (!isObject(body) || !isReply(body)) {
    throw new TypeError('Cannot read the reply: expected an object with "candidates" or "promptFeedback"');
  }
  const progress = newProgress();
  const events = [...readChunk(progress, body), ...endReply(progress)];
  const start = events.find((event) => event.type === "start")!;
  const finish = events.find((event) => event.type === "finish");
  if (!finish && progress.next === 0) throw new TypeError("Cannot read the reply: it has neither content nor an end");
  return {
    id: start.id,
    model: start.model,
    createdAt: start.createdAt,
    parts: partsOf(events, progress),
    stop: finish?.stop ?? { reason: "end", raw: null },
    usage: progress.usage,
    unsupportedFields: [...progress.unsupportedFields],
  };
}

/** Joins the events of a whole reply into its parts. */
function partsOf(events: readonly ReplyEvent[], progress: Progress): ReplyPart[] {
  const parts: ReplyPart[] = [];
  for (const event of events) {
    if (event.type === "image") parts.push(event.image);
    else if (event.type === "web_search") parts.push(event.search);
    else if (event.type === "part-start") parts.push(emptyPart(event.part));
    else if (event.type === "part-end" && event.citations) {
      appendAll(parts, citedAlone(parts, event.citations, progress));
    } else if (event.type === "part-delta") parts.push(withText(parts.pop()!, event));
    else if (event.type === "part-signature") parts.push({ ...parts.pop()!, signature: event.signature } as ReplyPart);
  }
  for (const [index, citations] of citationsByPart(progress)) {
    const part = parts[index];
    if (part?.kind === "text" && citations.length > 0) parts[index] = { ...part, citations };
  }
  return parts;
}

/**
 * The text to which a stream attaches citations at its end. In a whole reply texts have their own, so it is needed only
 * when there is no text.
 */
function citedAlone(parts: ReplyPart[], citations: readonly Citation[], { texts }: Progress): ReplyPart[] {
  const last = parts.at(-1);
  if (last?.kind !== "text" || texts.has(parts.length - 1)) return [];
  parts.pop();
  return texts.size === 0 ? [{ ...last, citations }] : [];
}

function withText(part: ReplyPart, { text, logprobs }: Extract<ReplyEvent, { type: "part-delta" }>): ReplyPart {
  if (part.kind === "text") return { ...part, text: part.text + text, ...logprobsField(part.logprobs, logprobs) };
  if (part.kind === "tool_call") return { ...part, input: part.input + text };
  return part.kind === "image" || part.kind === "web_search" ? part : { ...part, text: part.text + text };
}
