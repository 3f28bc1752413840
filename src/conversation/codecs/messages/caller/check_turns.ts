import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { kindOf } from "../shared/fields.ts";

/** Ids of the calls in the latest assistant turn. Consecutive messages of one role form one turn. */
interface Calls {
  ids: Set<string> | null;
  latest: "user" | "assistant" | null;
  /** True while results may belong to calls in a conversation stored by the vendor. */
  areStored: boolean;
}

/**
 * Checks roles, contents, blocks, and that every result belongs to a call of the previous turn. Unknown kinds of blocks
 * are accepted.
 *
 * @param continuesThread True where the vendor stores the previous messages: results may then belong to calls in them,
 * and there may be no new message.
 * @throws {GatewayError} `invalid_request`, naming the message and block.
 */
export function checkTurns(messages: unknown, continuesThread: boolean = false): void {
  if (!Array.isArray(messages) || (messages.length === 0 && !continuesThread)) {
    const got = Array.isArray(messages) ? "an empty array" : kindOf(messages);
    throw invalidField("messages", `expected an array of at least one message, got ${got}`);
  }
  const calls: Calls = { ids: null, latest: null, areStored: continuesThread };
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (!isObject(message)) throw invalidField(`messages[${index}]`, `expected a message, got ${kindOf(message)}`);
    checkRole(message.role, index, calls);
    const content = message.content;
    if (typeof content === "string") continue;
    if (!Array.isArray(content)) {
      throw invalidField(
        `messages[${index}].content`,
        `expected a string or an array of blocks, got ${kindOf(content)}`,
      );
    }
    for (let position = 0; position < content.length; position++) {
      checkBlock(content[position], index, position, message.role, calls);
    }
  }
}

function checkRole(role: unknown, index: number, calls: Calls): void {
  if (role === "assistant") {
    if (calls.latest !== "assistant") calls.ids = null;
    calls.latest = "assistant";
    calls.areStored = false;
  } else if (role === "user") {
    calls.latest = "user";
  } else if (role !== "system") {
    throw invalidField(`messages[${index}].role`, 'expected "user" or "assistant"');
  }
}

function checkBlock(block: unknown, index: number, position: number, role: unknown, calls: Calls): void {
  if (!isObject(block) || typeof block.type !== "string") {
    throw invalidBlock(index, position, "", `expected a block with a type, got ${kindOf(block)}`);
  }
  switch (block.type) {
    case "text":
      if (typeof block.text !== "string") {
        throw invalidBlock(index, position, ".text", `expected a string, got ${kindOf(block.text)}`);
      }
      return;
    case "image":
      return checkSource(block, index, position, "image/");
    case "document":
      return checkSource(block, index, position, "");
    case "tool_use":
      return checkCall(block, index, position, role, calls);
    case "tool_result":
      return checkResult(block, index, position, role, calls);
    case "redacted_thinking":
      if (typeof block.data !== "string") {
        throw invalidBlock(index, position, ".data", `expected a string, got ${kindOf(block.data)}`);
      }
      return;
  }
}

function checkCall(block: JsonObject, index: number, position: number, role: unknown, calls: Calls): void {
  if (role !== "assistant") throw invalidBlock(index, position, "", 'expected "tool_use" only in an assistant message');
  if (typeof block.id !== "string" || block.id === "") {
    throw invalidBlock(index, position, ".id", `expected the id of the call, got ${kindOf(block.id)}`);
  }
  if (typeof block.name !== "string" || block.name === "") {
    throw invalidBlock(index, position, ".name", `expected the name of a tool, got ${kindOf(block.name)}`);
  }
  if (block.input !== undefined && !isObject(block.input)) {
    throw invalidBlock(index, position, ".input", `expected an object, got ${kindOf(block.input)}`);
  }
  (calls.ids ??= new Set()).add(block.id);
}

function checkResult(block: JsonObject, index: number, position: number, role: unknown, calls: Calls): void {
  if (role !== "user") throw invalidBlock(index, position, "", 'expected "tool_result" only in a user message');
  const id = block.tool_use_id;
  if (typeof id !== "string") {
    throw invalidBlock(index, position, ".tool_use_id", `expected the id of a call, got ${kindOf(id)}`);
  }
  if (!calls.ids?.has(id) && !calls.areStored) {
    throw invalidBlock(
      index,
      position,
      ".tool_use_id",
      `no "tool_use" in the previous message has the id "${id.slice(0, 80)}"`,
    );
  }
  const content = block.content;
  if (content === undefined || content === null || typeof content === "string") return;
  if (!Array.isArray(content)) {
    throw invalidBlock(index, position, ".content", `expected a string or an array of blocks, got ${kindOf(content)}`);
  }
  content.forEach((inner, at) => {
    if (!isObject(inner) || typeof inner.type !== "string") {
      throw invalidBlock(index, position, `.content[${at}]`, `expected a block with a type, got ${kindOf(inner)}`);
    }
    if (inner.type === "text" && typeof inner.text !== "string") {
      throw invalidBlock(index, position, `.content[${at}].text`, `expected a string, got ${kindOf(inner.text)}`);
    }
  });
}

const BASE64_ENDS = /^[A-Za-z0-9+/_\-\s]*={0,2}\s*$/;

/** Checks only both ends of the data. The reader of the bytes validates the rest. */
function checkSource(block: JsonObject, index: number, position: number, mediaKind: string): void {
  const source = block.source;
  if (!isObject(source) || typeof source.type !== "string") {
    throw invalidBlock(index, position, ".source", `expected a source with a type, got ${kindOf(source)}`);
  }
  if (source.type === "url" && typeof source.url !== "string") {
    throw invalidBlock(index, position, ".source.url", `expected a URL, got ${kindOf(source.url)}`);
  }
  if (source.type !== "base64") return;
  const { media_type: mediaType, data } = source;
  if (typeof mediaType !== "string" || !mediaType.startsWith(mediaKind)) {
    const expected = mediaKind === "" ? "a media type" : `a media type that starts with "${mediaKind}"`;
    throw invalidBlock(index, position, ".source.media_type", `expected ${expected}`);
  }
  if (
    typeof data !== "string" || data === "" || !BASE64_ENDS.test(data.slice(-64)) ||
    (data.length > 64 && !BASE64_ENDS.test(data.slice(0, 64)))
  ) {
    throw invalidBlock(index, position, ".source.data", "expected base64 data");
  }
}

function invalidBlock(index: number, position: number, rest: string, expected: string): Error {
  return invalidField(`messages[${index}].content[${position}]${rest}`, expected);
}
