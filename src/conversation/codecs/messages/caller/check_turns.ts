import { invalidField } from "../../../../lib/gateway_error.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import { isObject } from "../../../wire_value.ts";
import { kindOf } from "../shared/fields.ts";

/** The ids that the latest assistant turn called by; messages of one role in a row are one turn. */
interface Calls {
  ids: Set<string> | null;
  latest: "user" | "assistant" | null;
  /** True while calls of turns that the vendor keeps may be answered. */
  areKept: boolean;
}

/**
 * Roles, contents, blocks, and that every result answers a call of the turn before. Unknown kinds of blocks pass.
 *
 * @param continuesThread True where the vendor keeps what came before: results may then answer calls of its, and there
 * may be nothing new.
 * @throws {GatewayError} `invalid_request`, naming the message and block.
 */
export function checkTurns(messages: unknown, continuesThread: boolean = false): void {
  if (!Array.isArray(messages) || (messages.length === 0 && !continuesThread)) {
    const got = Array.isArray(messages) ? "an empty one" : kindOf(messages);
    throw invalidField("messages", `expected an array of at least one message, got ${got}`);
  }
  const calls: Calls = { ids: null, latest: null, areKept: continuesThread };
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (!isObject(message)) throw invalidField(`messages[${index}]`, `expected a message, got ${kindOf(message)}`);
    checkRole(message.role, index, calls);
    const content = message.content;
    if (typeof content === "string") continue;
    if (!Array.isArray(content)) {
      throw invalidField(`messages[${index}].content`, `expected text or an array of blocks, got ${kindOf(content)}`);
    }
    for (let place = 0; place < content.length; place++) checkBlock(content[place], index, place, message.role, calls);
  }
}

function checkRole(role: unknown, index: number, calls: Calls): void {
  if (role === "assistant") {
    if (calls.latest !== "assistant") calls.ids = null;
    calls.latest = "assistant";
    calls.areKept = false;
  } else if (role === "user") {
    calls.latest = "user";
  } else if (role !== "system") {
    throw invalidField(`messages[${index}].role`, 'expected "user" or "assistant"');
  }
}

function checkBlock(block: unknown, index: number, place: number, role: unknown, calls: Calls): void {
  if (!isObject(block) || typeof block.type !== "string") {
    throw blockFault(index, place, "", `expected a block with a type, got ${kindOf(block)}`);
  }
  switch (block.type) {
    case "text":
      if (typeof block.text !== "string") {
        throw blockFault(index, place, ".text", `expected text, got ${kindOf(block.text)}`);
      }
      return;
    case "image":
      return checkSource(block, index, place, "image/");
    case "document":
      return checkSource(block, index, place, "");
    case "tool_use":
      return checkCall(block, index, place, role, calls);
    case "tool_result":
      return checkResult(block, index, place, role, calls);
    case "redacted_thinking":
      if (typeof block.data !== "string") {
        throw blockFault(index, place, ".data", `expected text, got ${kindOf(block.data)}`);
      }
      return;
  }
}

function checkCall(block: JsonObject, index: number, place: number, role: unknown, calls: Calls): void {
  if (role !== "assistant") throw blockFault(index, place, "", 'expected "tool_use" only in an assistant message');
  if (typeof block.id !== "string" || block.id === "") {
    throw blockFault(index, place, ".id", `expected the id of the call, got ${kindOf(block.id)}`);
  }
  if (typeof block.name !== "string" || block.name === "") {
    throw blockFault(index, place, ".name", `expected the name of a tool, got ${kindOf(block.name)}`);
  }
  if (block.input !== undefined && !isObject(block.input)) {
    throw blockFault(index, place, ".input", `expected an object, got ${kindOf(block.input)}`);
  }
  (calls.ids ??= new Set()).add(block.id);
}

function checkResult(block: JsonObject, index: number, place: number, role: unknown, calls: Calls): void {
  if (role !== "user") throw blockFault(index, place, "", 'expected "tool_result" only in a user message');
  const id = block.tool_use_id;
  if (typeof id !== "string") {
    throw blockFault(index, place, ".tool_use_id", `expected the id of a call, got ${kindOf(id)}`);
  }
  if (!calls.ids?.has(id) && !calls.areKept) {
    throw blockFault(
      index,
      place,
      ".tool_use_id",
      `no "tool_use" in the message before has the id "${id.slice(0, 80)}"`,
    );
  }
  const content = block.content;
  if (content === undefined || content === null || typeof content === "string") return;
  if (!Array.isArray(content)) {
    throw blockFault(index, place, ".content", `expected text or an array of blocks, got ${kindOf(content)}`);
  }
  content.forEach((inner, at) => {
    if (!isObject(inner) || typeof inner.type !== "string") {
      throw blockFault(index, place, `.content[${at}]`, `expected a block with a type, got ${kindOf(inner)}`);
    }
    if (inner.type === "text" && typeof inner.text !== "string") {
      throw blockFault(index, place, `.content[${at}].text`, `expected text, got ${kindOf(inner.text)}`);
    }
  });
}

const BASE64_ENDS = /^[A-Za-z0-9+/_\-\s]*={0,2}\s*$/;

/** Looks at the ends of the data only: the whole of it is read by whoever needs the bytes. */
function checkSource(block: JsonObject, index: number, place: number, mediaKind: string): void {
  const source = block.source;
  if (!isObject(source) || typeof source.type !== "string") {
    throw blockFault(index, place, ".source", `expected a source with a type, got ${kindOf(source)}`);
  }
  if (source.type === "url" && typeof source.url !== "string") {
    throw blockFault(index, place, ".source.url", `expected an address, got ${kindOf(source.url)}`);
  }
  if (source.type !== "base64") return;
  const { media_type: mediaType, data } = source;
  if (typeof mediaType !== "string" || !mediaType.startsWith(mediaKind)) {
    const expected = mediaKind === "" ? "a media type" : `a media type that begins with "${mediaKind}"`;
    throw blockFault(index, place, ".source.media_type", `expected ${expected}`);
  }
  if (
    typeof data !== "string" || data === "" || !BASE64_ENDS.test(data.slice(-64)) ||
    (data.length > 64 && !BASE64_ENDS.test(data.slice(0, 64)))
  ) {
    throw blockFault(index, place, ".source.data", "expected base64");
  }
}

function blockFault(index: number, place: number, rest: string, expected: string): Error {
  return invalidField(`messages[${index}].content[${place}]${rest}`, expected);
}
