import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { inputOf } from "../../../parts/request/call_input.ts";
import { FailedReply, unlisted } from "../../../parts/reply/failed_reply.ts";
import { isToolCall, type Reply, type ReplyPart, type Stop, stopFor } from "../../../neutral/reply.ts";
import { logprobsField, readTokenLogprobs } from "../../../neutral/logprobs.ts";
import { citationsField } from "../shared/parts.ts";
import { readSearchItem } from "../shared/search_items.ts";
import { imageOf } from "../shared/read_items.ts";
import { readUsage } from "../shared/usage.ts";
import { isObject, numberOrNull, objectsOf, textOf, textOrNull } from "../../../neutral/wire_value.ts";
import { failureIn } from "./reported_failure.ts";
import { reasoningTextOf } from "../shared/wire.ts";

/**
 * Reads a response object.
 *
 * @throws {TypeError} If it is not one, if it is not finished, or an error in place of one.
 */
export function readReply(value: unknown): Reply {
  const body = unlisted(value);
  if (isObject(body) && body.output === undefined && isObject(body.error)) throw new FailedReply(failureIn(body));
  if (!isObject(body) || !Array.isArray(body.output) || (body.object !== "response" && !textOrNull(body.id))) {
    throw new TypeError('Cannot read the reply: expected a response object with "output"');
  }
  const status = textOf(body.status) || "completed";
  if (status === "failed" || status === "cancelled") throw new FailedReply(failureIn(body));
  if (status === "queued" || status === "in_progress") {
    throw new TypeError(`Cannot read the reply: expected a finished response, got status "${status}"`);
  }
  const unsupportedFields = new Set<string>();
  const parts = objectsOf(body.output).flatMap((item) => readOutputItem(item, unsupportedFields));
  return {
    id: textOf(body.id),
    model: textOf(body.model),
    createdAt: numberOrNull(body.created_at),
    parts,
    stop: readStop(body, parts.some(isToolCall), parts.some(({ kind }) => kind === "refusal")),
    usage: readUsage(body),
    unsupportedFields: [...unsupportedFields],
  };
}

/** The stop of a response object. Source: Responses API reference, "incomplete_details". */
export function readStop(response: JsonObject, hasToolCall: boolean, hasRefusal: boolean): Stop {
  if (response.status !== "incomplete") {
    const raw = textOrNull(response.status);
    return hasRefusal && !hasToolCall ? { reason: "refusal", raw } : stopFor({ reason: "end", raw }, hasToolCall);
  }
  const raw = isObject(response.incomplete_details) ? textOrNull(response.incomplete_details.reason) : null;
  if (raw === "content_filter") return { reason: "content_filter", raw };
  return { reason: raw === "max_output_tokens" || raw === null ? "max_tokens" : "paused", raw };
}

/** The parts of one output item. Items of tools run by the vendor have none and are added to `unsupportedFields`. */
function readOutputItem(item: JsonObject, unsupportedFields: Set<string>): ReplyPart[] {
  switch (item.type) {
    case "message":
      return objectsOf(item.content).flatMap((part) => readContentPart(part, unsupportedFields));
    case "reasoning":
      return readReasoning(item);
    case "function_call":
      return [{ kind: "tool_call", ...callNames(item), input: inputOf(item.arguments) }];
    case "custom_tool_call":
      return [{ kind: "tool_call", ...callNames(item), input: textOf(item.input), custom: true }];
    case "web_search_call": {
      const search = readSearchItem(item);
      if (search === null) unsupportedFields.add("output.web_search_call");
      return search ? [search] : [];
    }
    case "image_generation_call": {
      const picture = imageOf(item);
      return picture ? [picture] : [];
    }
    default:
      unsupportedFields.add(`output.${textOf(item.type)}`);
      return [];
  }
}

function readContentPart(part: JsonObject, unsupportedFields: Set<string>): ReplyPart[] {
  if (part.type === "output_text") {
    const tokens = logprobsField(readTokenLogprobs(part.logprobs));
    return [{ kind: "text", text: textOf(part.text), ...citationsField(part), ...tokens }];
  }
  if (part.type === "refusal") return [{ kind: "refusal", text: textOf(part.refusal) }];
  unsupportedFields.add(`output.content.${textOf(part.type)}`);
  return [];
}

function readReasoning(item: JsonObject): ReplyPart[] {
  const text = reasoningTextOf(item);
  const value = textOrNull(item.encrypted_content);
  const id = textOrNull(item.id);
  if (text === "" && value === null) return [];
  return [{
    kind: "reasoning",
    text,
    ...(value ? { signature: { format: "responses", issuer: null, value } } : {}),
    ...(id ? { id } : {}),
  }];
}

/** The id and tool of a call. Dialects without `call_id` use the item's id. */
export function callNames(item: JsonObject): { callId: string; tool: string } {
  return { callId: textOf(item.call_id) || textOf(item.id), tool: textOf(item.name) };
}
