import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject, listOf, objectsOf } from "../../../conversation/neutral/wire_value.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { badParameter, checkChoice, checkLength } from "./openai_fields.ts";

const ROLES = ["system", "assistant", "user", "function", "tool", "developer"];
const USER_PARTS = ["text", "image_url", "input_audio", "refusal", "audio", "file"];
const MAX_CALL_ID_CHARACTERS = 40;

/**
 * Checks roles and parts, and that the result of every call follows it directly. Source: Chat Completions reference,
 * "messages"; the vendor's error messages.
 *
 * @throws {SimulatedError}
 */
export function checkChatMessages(messages: unknown): void {
  if (!Array.isArray(messages)) {
    const message = "Invalid type for 'messages': expected an array of objects.";
    throw badParameter("messages", message, "invalid_type");
  }
  if (messages.length === 0) {
    const message =
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array " +
      "instead.";
    throw badParameter("messages", message, "empty_array");
  }
  let open: ReadonlySet<string> | null = null;
  messages.forEach((message, index) => {
    if (!isObject(message)) {
      throw badParameter(
        `messages[${index}]`,
        `Invalid type for 'messages[${index}]': expected an object.`,
        "invalid_type",
      );
    }
    checkMessage(message, index);
    open = followed(message, index, open);
  });
  rejectOpenCalls(open, messages.length);
}

function checkMessage(message: JsonObject, index: number): void {
  const path = `messages[${index}]`;
  checkChoice(message.role, `${path}.role`, ROLES);
  if (message.role !== "assistant" && isAbsent(message.content)) {
    const text = `Invalid value for 'content': expected a string, got null.`;
    throw badParameter(`${path}.content`, text);
  }
  const calls = listOf(message.tool_calls);
  if (message.role === "assistant" && isAbsent(message.content) && calls.length === 0 && !message.function_call) {
    if (isAbsent(message.refusal) && isAbsent(message.audio)) {
      throw badParameter(`${path}.content`, "Invalid value for 'content': expected a string, got null.");
    }
  }
  listOf(message.content).forEach((part, at) => checkPart(part, `${path}.content[${at}]`, message.role));
  calls.forEach((call, at) => {
    if (isObject(call)) checkLength(call.id, `${path}.tool_calls[${at}].id`, MAX_CALL_ID_CHARACTERS);
  });
  checkLength(message.tool_call_id, `${path}.tool_call_id`, MAX_CALL_ID_CHARACTERS);
}

function checkPart(part: unknown, path: string, role: unknown): void {
  const { type, image_url: image } = isObject(part) ? part : {};
  checkChoice(type, `${path}.type`, USER_PARTS);
  if (type === "image_url" && role !== "user") {
    const message =
      `Invalid '${path.replace(/\.content.*/, "")}'. Image URLs are only allowed for messages with role ` +
      `'user', but this message with role '${role}' contains an image URL.`;
    throw badParameter(path.replace(/\.content.*/, ""), message, "invalid_value");
  }
  const url = isObject(image) ? image.url : null;
  if (type === "image_url" && !(typeof url === "string" && /^(https?:\/\/|data:image\/)/.test(url))) {
    const message = `Invalid '${path}.image_url.url'. Expected a valid URL or a base64-encoded data URL of an image.`;
    throw badParameter(`${path}.image_url.url`, message, "invalid_image_url");
  }
}

/** Returns the calls without a result after this message, or null if there are none. */
function followed(message: JsonObject, index: number, open: ReadonlySet<string> | null): ReadonlySet<string> | null {
  if (message.role === "tool") {
    const id = String(message.tool_call_id);
    if (open === null || !open.has(id)) {
      const text = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with " +
        "'tool_calls'.";
      throw badParameter(`messages.[${index}].role`, text);
    }
    return new Set([...open].filter((other) => other !== id));
  }
  rejectOpenCalls(open, index);
  const calls = objectsOf(message.tool_calls);
  return calls.length === 0 ? null : new Set(calls.map(({ id }) => String(id)));
}

function rejectOpenCalls(open: ReadonlySet<string> | null, index: number): void {
  if (open === null || open.size === 0) return;
  throw new SimulatedError(
    400,
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The " +
      `following tool_call_ids did not have response messages: ${[...open].join(", ")}`,
    { param: `messages.[${index}].role` },
  );
}
