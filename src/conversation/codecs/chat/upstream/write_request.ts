import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, TextPart } from "../../../neutral/conversation.ts";
import { listOf, objectOf, textOf } from "../../../neutral/wire_value.ts";
import { describedSchema } from "../../../schemas/described_keywords.ts";
import { writeSearch } from "../shared/search_options.ts";
import { hasValue } from "../shared/fields.ts";
import { vendorFieldsFor } from "../shared/vendor_fields.ts";
import { writeMessages } from "./write_messages.ts";
import { writeSettings } from "./write_settings.ts";
import { enforcesSchemas, overflowText, writeOutputFormat, writeTools } from "./write_tools.ts";
import type { Overflow } from "./write_tools.ts";
import type { Writing } from "./writing.ts";

/**
 * Writes a conversation as a request body, adapted to what the target accepts.
 *
 * @throws {GatewayError} `invalid_request` for media that the target does not support.
 */
export function writeRequest(conversation: Conversation, target: RequestTarget): WriteResult<JsonObject> {
  const writing: Writing = { target, droppedFields: new Set(), toolNames: new Map() };
  const overflow: Overflow = new Map();
  const tools = writeTools(conversation, writing, overflow);
  const messages = writeMessages(withInstruction(conversation, overflowText(overflow)), writing);
  if (conversation.outputFormat?.kind === "json" && !messages.some(mentionsJson)) {
    messages.unshift({ role: "system", content: "Answer with a JSON object." });
  }
  if (conversation.outputFormat?.kind === "json_schema" && !enforcesSchemas(writing)) {
    messages.unshift({ role: "system", content: describedSchema(conversation.outputFormat.schema) });
  }
  const body: Record<string, unknown> = {
    model: target.model,
    messages,
    ...tools,
    ...writeSearch(conversation, target.hasWebSearch === true, writing.droppedFields),
    ...writeOutputFormat(conversation.outputFormat, writing),
    ...writeSettings(conversation, writing),
  };
  removeUnknown(body, writing);
  const droppedFields = [...writing.droppedFields];
  return writing.toolNames.size > 0 ? { body, droppedFields, toolNames: writing.toolNames } : { body, droppedFields };
}

/** Leaves out the fields that a vendor refuses because it does not know them. */
function removeUnknown(body: Record<string, unknown>, { target, droppedFields }: Writing): void {
  const fields = vendorFieldsFor(target.quirks);
  if (fields === null) return;
  for (const name of Object.keys(body)) {
    if (fields.request.has(name)) continue;
    if (hasValue(body[name])) droppedFields.add(name === "top_logprobs" ? "logprobs" : name);
    delete body[name];
  }
}

function withInstruction(conversation: Conversation, text: string | null): Conversation {
  if (text === null) return conversation;
  const instruction: TextPart = { kind: "text", text };
  return { ...conversation, instructions: [...conversation.instructions, instruction] };
}

/** `json_object` is rejected unless a message mentions JSON. Source: Chat Completions reference, "response_format". */
function mentionsJson(message: JsonObject): boolean {
  const texts = [textOf(message.content), ...listOf(message.content).map((part) => textOf(objectOf(part)?.text))];
  return texts.some((text) => /json/i.test(text));
}
