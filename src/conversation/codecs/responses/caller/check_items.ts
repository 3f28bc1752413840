import { isDataUri } from "../../../../platform/lib/media/data_uri.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import { isAbsent, isObject } from "../../../neutral/wire_value.ts";

/** Findings about the input items. */
export interface ItemsSeen {
  /** The `call_id` of every call; null when there is none. */
  readonly calls: ReadonlySet<string> | null;
  /** True when tools may be defined outside of the `tools` field. */
  readonly addsTools: boolean;
}

const ROLES = new Set<unknown>(["user", "assistant", "system", "developer"]);

/**
 * Checks input items of the kinds that every vendor supports; other kinds are accepted.
 *
 * @param continues True when calls may be in an earlier response, so that an output without a call is valid.
 * @throws {GatewayError} `invalid_request`, naming the item and its field.
 */
export function checkItems(items: readonly unknown[], continues: boolean): ItemsSeen {
  let calls: Set<string> | null = null;
  let outputs: number[] | null = null;
  let addsTools = false;
  let mayReferToStoredCalls = continues;
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    const path = `input[${index}]`;
    if (!isObject(item)) throw invalidField(path, "expected an object");
    const kind = item.type ?? "message";
    checkItem(item, kind, path);
    if (kind === "item_reference") mayReferToStoredCalls = true;
    else if (kind === "additional_tools" || kind === "tool_search_output") addsTools = true;
    else if (kind === "function_call_output" || kind === "custom_tool_call_output") (outputs ??= []).push(index);
    else if (typeof item.call_id === "string") (calls ??= new Set()).add(item.call_id);
  }
  if (outputs && !mayReferToStoredCalls) checkPairs(items, outputs, calls);
  return { calls, addsTools };
}

function checkItem(item: JsonObject, kind: unknown, path: string): void {
  switch (kind) {
    case "message":
      return checkMessage(item, path);
    case "function_call":
      return checkTexts(item, path, ["call_id", "name"], "arguments");
    case "custom_tool_call":
      return checkTexts(item, path, ["call_id", "name"], "input");
    case "function_call_output":
    case "custom_tool_call_output":
      checkTexts(item, path, ["call_id"], null);
      return checkContent(item.output, `${path}.output`);
    case "reasoning":
      if (isAbsent(item.summary) || Array.isArray(item.summary)) return;
      throw invalidField(`${path}.summary`, "expected an array");
    default:
      if (typeof kind !== "string") throw invalidField(`${path}.type`, "expected a string");
  }
}

function checkMessage(item: JsonObject, path: string): void {
  if (!ROLES.has(item.role)) {
    throw invalidField(`${path}.role`, 'expected "user", "assistant", "system" or "developer"');
  }
  checkContent(item.content, `${path}.content`);
}

function checkTexts(item: JsonObject, path: string, filled: readonly string[], text: string | null): void {
  for (const field of filled) {
    if (typeof item[field] !== "string" || item[field] === "") {
      throw invalidField(`${path}.${field}`, "expected a non-empty string");
    }
  }
  if (text !== null && typeof item[text] !== "string") throw invalidField(`${path}.${text}`, "expected a string");
}

function checkContent(content: unknown, path: string): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content)) throw invalidField(path, "expected a string or an array of parts");
  for (let index = 0; index < content.length; index++) {
    const part = content[index];
    if (!isObject(part) || typeof part.type !== "string") {
      throw invalidField(`${path}[${index}]`, 'expected an object with a "type"');
    }
    if (part.type === "input_text" || part.type === "output_text") {
      if (typeof part.text !== "string") throw invalidField(`${path}[${index}].text`, "expected a string");
    } else if (part.type === "input_image") {
      checkImage(part, `${path}[${index}]`);
    }
  }
}

function checkImage(part: JsonObject, path: string): void {
  if (typeof part.file_id === "string") return;
  const url = part.image_url;
  if (typeof url !== "string" || url === "") {
    throw invalidField(`${path}.image_url`, "expected a URL or a data URL");
  }
  if (isDataUri(url) && !/^data: *image\//i.test(url)) {
    throw invalidField(`${path}.image_url`, "expected a data URL of an image");
  }
}

function checkPairs(items: readonly unknown[], outputs: readonly number[], calls: ReadonlySet<string> | null): void {
  for (const index of outputs) {
    const callId = (items[index] as JsonObject).call_id as string;
    if (!calls?.has(callId)) {
      throw invalidField(
        `input[${index}].call_id`,
        `expected the call_id of a call in input, got "${callId.slice(0, 80)}"`,
      );
    }
  }
}
