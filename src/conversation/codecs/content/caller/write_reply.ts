import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ReplyContext } from "../../../contract/caller_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { Reply, ReplyPart } from "../../../neutral/reply.ts";
import { objectIn } from "../../../parts/request/call_input.ts";
import { candidateOf, headOf, writeReplyCall } from "./event_writer.ts";
import { writeReplyImage } from "../shared/parts.ts";
import { writeReplySignature } from "../shared/signatures.ts";
import { promptFeedbackOf, wasCutOff } from "../shared/stop.ts";
import { writeUsage } from "../shared/usage.ts";

/** Writes a whole reply. A call that a limit cut off is left out; a blocked prompt has no candidates. */
export function writeReply(reply: Reply, context: ReplyContext): WriteResult<JsonObject> {
  const droppedFields = new Set<string>();
  const parts = reply.parts.flatMap((part) => writePart(part, reply, droppedFields));
  const texts = reply.parts.filter((part) => part.kind === "text" || part.kind === "refusal");
  const body: JsonObject = reply.stop.reason === "prompt_blocked" && parts.length === 0
    ? { promptFeedback: promptFeedbackOf(reply.stop) }
    : { candidates: [candidateOf(parts, reply.stop, texts, reply.parts.filter((part) => part.kind === "web_search"))] };
  if (reply.usage !== null) body.usageMetadata = writeUsage(reply.usage);
  return { body: { ...body, ...headOf(reply.id, reply.createdAt, context) }, droppedFields: [...droppedFields] };
}

function writePart(part: ReplyPart, { stop }: Reply, droppedFields: Set<string>): JsonObject[] {
  switch (part.kind) {
    case "text": {
      const signature = part.signature ? { thoughtSignature: writeReplySignature(part.signature, false) } : {};
      return part.text === "" && !part.signature ? [] : [{ text: part.text, ...signature }];
    }
    case "refusal":
      droppedFields.add("refusal");
      return part.text === "" ? [] : [{ text: part.text }];
    case "reasoning": {
      const signature = part.signature
        ? { thoughtSignature: writeReplySignature(part.signature, part.redacted === true) }
        : {};
      return part.text === "" && !part.signature ? [] : [{ text: part.text, thought: true, ...signature }];
    }
    case "image":
      return [writeReplyImage(part)];
    case "web_search":
      return []; // reported in the grounding metadata
    case "tool_call": {
      const isPartial = part.custom !== true && objectIn(part.input) === null;
      return isPartial && wasCutOff(stop) ? [] : [writeReplyCall(part)];
    }
  }
}
