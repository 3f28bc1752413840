import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { isIssued } from "../../signatures.ts";
import { badParameter, checkChoice, checkLength } from "./openai_fields.ts";

const ROLES = ["assistant", "system", "developer", "user"];
const USER_PARTS = ["input_text", "input_image", "input_file", "input_audio"];
const PARTS_BY_ROLE: Readonly<Record<string, readonly string[]>> = {
  assistant: ["output_text", "refusal"],
  user: USER_PARTS,
  system: ["input_text", "input_image", "input_file"],
  developer: ["input_text", "input_image", "input_file"],
};
/** The prefix of an item's id, by the item's type. */
const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  custom_tool_call: "ctc",
  reasoning: "rs",
  web_search_call: "ws",
};
const CALLS: Readonly<Record<string, string>> = {
  function_call: "function_call_output",
  custom_tool_call: "custom_tool_call_output",
};
const MAX_CALL_ID_CHARACTERS = 64;

/**
 * Checks the input items: roles and their kinds of parts, pairs of calls and outputs, and reasoning that the sandbox
 * issued, with the item that follows it. Source: Responses API reference, "input"; the vendor's error messages.
 *
 * @throws {SimulatedError}
 */
export function checkItems(input: unknown): void {
  if (typeof input === "string") return;
  if (!Array.isArray(input)) {
    throw badParameter("input", "Invalid type for 'input': expected a string or an array of items.", "invalid_type");
  }
  const items = input.map((item, index) => {
    if (isObject(item)) return item;
    throw badParameter(`input[${index}]`, `Invalid type for 'input[${index}]': expected an object.`, "invalid_type");
  });
  items.forEach((item, index) => checkItem(item, `input[${index}]`));
  checkPairs(items);
  checkFollowers(items);
}

function typeOf(item: JsonObject): string {
  return String(item.type ?? "message");
}

function checkItem(item: JsonObject, path: string): void {
  const type = typeOf(item);
  checkId(item, type, path);
  switch (type) {
    case "message":
      return checkMessage(item, path);
    case "function_call":
      return checkTexts(item, path, ["call_id", "name", "arguments"]);
    case "custom_tool_call":
      return checkTexts(item, path, ["call_id", "name", "input"]);
    case "function_call_output":
    case "custom_tool_call_output":
      checkTexts(item, path, ["call_id"]);
      listOf(item.output).forEach((part, at) => checkPart(part, `${path}.output[${at}]`, USER_PARTS));
      return;
    case "reasoning":
      return checkReasoning(item, path);
    case "item_reference":
      throw notStored(item.id);
  }
}

function checkId({ id }: JsonObject, type: string, path: string): void {
  const prefix = ID_PREFIXES[type];
  if (typeof id !== "string" || prefix === undefined || id.startsWith(prefix)) return;
  const message = `Invalid '${path}.id': '${id}'. Expected an ID that begins with '${prefix}'.`;
  throw badParameter(`${path}.id`, message, "invalid_value");
}

function checkMessage(item: JsonObject, path: string): void {
  checkChoice(item.role, `${path}.role`, ROLES);
  if (typeof item.content === "string") return;
  if (!Array.isArray(item.content)) {
    const message = `Missing required parameter: '${path}.content'.`;
    throw badParameter(`${path}.content`, message, "missing_required_parameter");
  }
  const kinds = ownValue(PARTS_BY_ROLE, String(item.role)) ?? [];
  item.content.forEach((part, at) => checkPart(part, `${path}.content[${at}]`, kinds));
}

function checkPart(part: unknown, path: string, kinds: readonly string[]): void {
  const { type, image_url: url } = isObject(part) ? part : {};
  checkChoice(type, path, kinds);
  if (type !== "input_image" || isAbsent(url)) return;
  if (typeof url === "string" && /^(https?:\/\/|data:image\/)/.test(url)) return;
  const message = `Invalid '${path}.image_url'. Expected a valid URL or a base64-encoded data URL of an image.`;
  throw badParameter(`${path}.image_url`, message, "invalid_value");
}

function checkTexts(item: JsonObject, path: string, names: readonly string[]): void {
  for (const name of names) {
    if (typeof item[name] === "string") continue;
    const message = `Missing required parameter: '${path}.${name}'.`;
    throw badParameter(`${path}.${name}`, message, "missing_required_parameter");
  }
  checkLength(item.call_id, `${path}.call_id`, MAX_CALL_ID_CHARACTERS);
}

/** Reasoning has a signature of the vendor. Stored reasoning was put in place of its id before. */
function checkReasoning(item: JsonObject, path: string): void {
  if (!Array.isArray(item.summary)) {
    const message = `Missing required parameter: '${path}.summary'.`;
    throw badParameter(`${path}.summary`, message, "missing_required_parameter");
  }
  const { encrypted_content: proof } = item;
  if (typeof proof !== "string") throw notStored(item.id);
  if (isIssued("responses", proof)) return;
  const shown = `${proof.slice(0, 4)}...${proof.slice(-4)}`;
  throw new SimulatedError(
    400,
    `The encrypted content ${shown} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
    { code: "invalid_encrypted_content" },
  );
}

function notStored(id: unknown): SimulatedError {
  return new SimulatedError(
    404,
    `Item with id '${
      id ?? "none"
    }' not found. Items are not persisted when \`store\` is set to false. Try again with ` +
      "`store` set to true, or remove this item from your input.",
    { param: "input" },
  );
}

function checkPairs(items: readonly JsonObject[]): void {
  const open = new Map<string, string>();
  const answered = new Set<string>();
  for (const item of items) {
    const type = typeOf(item);
    const callId = String(item.call_id);
    const output = ownValue(CALLS, type);
    if (output !== undefined) {
      open.set(callId, output);
    } else if (type.endsWith("call_output") && Object.values(CALLS).includes(type)) {
      if (open.get(callId) !== type && !answered.has(callId)) {
        const message = `No tool call found for ${type.replaceAll("_", " ")} with call_id ${callId}.`;
        throw badParameter("input", message);
      }
      open.delete(callId);
      answered.add(callId);
    }
  }
  for (const [callId, output] of open) {
    const call = output.replace(/_output$/, "").replaceAll("_", " ");
    throw badParameter("input", `No tool output found for ${call} ${callId}.`);
  }
}

/** Reasoning is followed by a message or a call of the assistant, or by more reasoning. */
function checkFollowers(items: readonly JsonObject[]): void {
  items.forEach((item, index) => {
    if (typeOf(item) !== "reasoning") return;
    const next = items[index + 1];
    const type = next === undefined ? "none" : typeOf(next);
    const follows = type === "reasoning" || type === "web_search_call" || Object.hasOwn(CALLS, type) ||
      (type === "message" && next?.role === "assistant");
    if (follows) return;
    const name = typeof item.id === "string" ? item.id : `input[${index}]`;
    throw badParameter("input", `Item '${name}' of type 'reasoning' was provided without its required following item.`);
  });
}
