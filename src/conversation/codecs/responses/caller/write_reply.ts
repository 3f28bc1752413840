import type { ReplyContext } from "../../../contract/caller_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { isToolCall, type Reply, type ReplyPart, type Stop, stopFor } from "../../../neutral/reply.ts";
import { searchesFirst } from "../../../parts/reply/search_order.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { type SignatureOwner, writeCarriedSignature } from "../shared/carried_signature.ts";
import {
  callIdFor,
  callItem,
  imageItem,
  isWholeInput,
  itemIdOf,
  type ItemPrefix,
  messageItem,
  outputText,
  reasoningItem,
  refusalPart,
  responseIdOf,
} from "./output_items.ts";
import { annotationsOf } from "../shared/parts.ts";
import { listOf } from "../../../neutral/wire_value.ts";
import { searchItem } from "../shared/search_items.ts";
import { endingOf, progressFields, settingsOf } from "./response_object.ts";
import { writeUsage } from "../shared/usage.ts";

interface Writing {
  readonly output: JsonObject[];
  readonly requestId: string;
  readonly callIds: Map<string, number>;
  readonly droppedFields: Set<string>;
}

/** Writes a response object. A call that a limit cut off is left out, so that clients do not execute it. */
export function writeReply(reply: Reply, context: ReplyContext): WriteResult<JsonObject> {
  const stop = stopFor(reply.stop, reply.parts.some(isToolCall));
  const ending = endingOf(stop);
  const writing: Writing = { output: [], requestId: context.requestId, callIds: new Map(), droppedFields: new Set() };
  if (stop.sequence !== undefined) writing.droppedFields.add("stop_sequence");
  const parts = searchesFirst(wholeParts(reply.parts, ending.incomplete_details !== null));
  for (const part of parts) writePart(part, writing);
  if (stop.reason === "refusal" && !reply.parts.some(({ kind }) => kind === "refusal")) {
    writePart({ kind: "refusal", text: refusalTextOf(stop) }, writing);
  }
  const progress = {
    id: responseIdOf(reply.id, context.requestId),
    createdAt: reply.createdAt ?? context.createdAt,
    model: context.model,
    output: withoutTrailingSignatures(writing.output),
    usage: reply.usage ? writeUsage(reply.usage) : null,
  };
  return {
    body: { ...progressFields(progress, ending), ...settingsOf(context) },
    droppedFields: [...writing.droppedFields],
  };
}

/** The text of a refusal for which the vendor gave no text. */
export function refusalTextOf(stop: Stop): string {
  return stop.explanation || "The model declined to answer";
}

/**
 * Removes items at the end that hold only a signature, because clients treat the last item as the answer. The gateway
 * stores their contents.
 */
export function withoutTrailingSignatures(output: readonly JsonObject[]): readonly JsonObject[] {
  const end = output.findLastIndex(({ type, summary }) => type !== "reasoning" || listOf(summary).length > 0) + 1;
  return end === 0 ? output.slice(0, 1) : output.slice(0, end);
}

function wholeParts(parts: readonly ReplyPart[], isCut: boolean): readonly ReplyPart[] {
  const last = parts.at(-1);
  const isPartialCall = isCut && last?.kind === "tool_call" && !last.custom && !isWholeInput(last.input);
  return isPartialCall ? parts.slice(0, -1) : parts;
}

function writePart(part: ReplyPart, writing: Writing): void {
  switch (part.kind) {
    case "text":
      writing.output.push(
        messageItem(
          nextId("msg", writing),
          [outputText(part.text, annotationsOf(part.text, part.citations), part.logprobs)],
          "completed",
        ),
      );
      if (part.signature) writeReasoning("", part.signature, { kind: "text" }, writing);
      return;
    case "refusal":
      writing.output.push(messageItem(nextId("msg", writing), [refusalPart(part.text)], "completed"));
      return;
    case "reasoning":
      return writeReasoning(
        part.text,
        part.signature,
        { kind: "reasoning", redacted: part.redacted === true },
        writing,
      );
    case "tool_call": {
      const callId = callIdFor(part.callId, writing.callIds, writing.requestId);
      if (part.signature) writeReasoning("", part.signature, { kind: "call", callId }, writing);
      const input = part.custom ? part.input : part.input || "{}";
      writing.output.push(
        callItem(nextId(part.custom ? "ctc" : "fc", writing), { ...part, callId, input }, "completed"),
      );
      return;
    }
    case "web_search":
      writing.output.push(searchItem(nextId("ws", writing), part));
      return;
    case "image": {
      const picture = imageItem(nextId("ig", writing), part);
      if (picture) writing.output.push(picture);
      else writing.droppedFields.add("image");
    }
  }
}

function writeReasoning(
  text: string,
  signature: ReasoningSignature | undefined,
  owner: SignatureOwner,
  writing: Writing,
): void {
  const encryptedContent = signature ? writeCarriedSignature({ signature, owner }) : null;
  writing.output.push(reasoningItem(nextId("rs", writing), text, encryptedContent));
}

function nextId(prefix: ItemPrefix, { requestId, output }: Writing): string {
  return itemIdOf(prefix, requestId, output.length);
}
