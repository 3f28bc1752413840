import type { ReplyPart } from "../../../conversation/neutral/reply.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { SimulatedEndpoint } from "../../generate.ts";
import { issueSignature } from "../../signatures.ts";
import type { PlannedReasoning } from "../../reply_plan.ts";
import { readConverse } from "./bedrock_converse_reader.ts";
import { checkConverse } from "./bedrock_converse_rules.ts";
import { converseEventWriter, writeConverseReply } from "./bedrock_converse_writer.ts";
import { encodeConverseEvents } from "./bedrock_frames.ts";

/** `Converse` and `ConverseStream`. Source: Amazon Bedrock API reference. */
export const converseEndpoint: SimulatedEndpoint = {
  vendor: "bedrock",
  format: {
    name: "converse",
    check: checkConverse,
    read: readConverse,
    writeReply: (reply) => ({ body: writeConverseReply(reply), droppedFields: [] }),
    eventWriter: converseEventWriter,
  },
  cachedAt: () => "markers",
  startsWithUsage: false,
  newReplyId: ({ requestId }) => requestId,
  newCallId: ({ vendors }) => `tooluse_${vendors.nextId()}`,
  partsOf({ reasoning, parts, stop }) {
    // Only the stop reason reports a refusal.
    const shown: readonly ReplyPart[] = stop.reason === "refusal" ? [] : parts;
    return {
      parts: reasoning === null ? shown : [reasoningPart(reasoning), ...shown],
      stop: stop.reason === "refusal" ? { ...stop, reason: "content_filter" } : stop,
    };
  },
  reportsUsage: () => true,
  withoutUsage: ({ usage: _, ...body }): JsonObject => isObject(body) ? body : {},
  defaultMessage,
  failureFrames: () => [{
    event: "serviceUnavailableException",
    data: JSON.stringify({ message: defaultMessage(503) }),
  }],
  encoder: encodeConverseEvents,
  headersOf: ({ requestId }) => ({ "x-amzn-requestid": requestId }),
  streamType: "application/vnd.amazon.eventstream",
};

function reasoningPart({ text, redacted }: PlannedReasoning): ReplyPart {
  const signature = issueSignature("converse", text);
  return redacted ? { kind: "reasoning", text: "", redacted, signature } : { kind: "reasoning", text, signature };
}

const MESSAGES: Readonly<Record<number, string>> = {
  429: "Too many requests, please wait before trying again.",
  503: "Bedrock is unable to process your request.",
};

function defaultMessage(status: number): string {
  if (MESSAGES[status] !== undefined) return MESSAGES[status];
  return status >= 500 ? "The system encountered an unexpected error during processing." : "The request was refused.";
}
