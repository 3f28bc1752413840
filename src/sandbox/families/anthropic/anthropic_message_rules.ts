import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isAbsent, isObject, objectsOf } from "../../../conversation/neutral/wire_value.ts";
import { isIssued, isIssuedFor } from "../../signatures.ts";
import { checkBlockFields, invalidRequest } from "./anthropic_fields.ts";

/** A block and its path. */
interface PlacedBlock {
  readonly block: JsonObject;
  readonly path: string;
}

/** Consecutive messages of one role, which the vendor treats as one. */
interface Turn {
  readonly role: string;
  /** The path of the first of its messages. */
  readonly path: string;
  readonly blocks: PlacedBlock[];
}

/**
 * Checks roles, blocks, pairs of calls and results, and reasoning that the sandbox signed. Source: Messages API
 * reference, "messages", "Tool use", "Extended thinking"; the vendor's error messages.
 *
 * @param thinks Whether the request enables reasoning with a budget.
 * @param tools The request's tools. Results of a caller's own tool search may refer to them by name.
 * @throws {Refusal}
 */
export function checkMessages(messages: unknown, thinks: boolean, tools: unknown): void {
  if (!Array.isArray(messages)) throw invalidRequest("messages", "Input should be a valid list");
  if (messages.length === 0) throw invalidRequest("messages", "at least one message is required");
  const turns: Turn[] = [];
  messages.forEach((message, index) => addMessage(turns, message, index, messages.length));
  for (const { role, blocks } of turns) for (const placed of blocks) checkBlock(placed, role);
  checkReferences(turns, new Set(objectsOf(tools).map(({ name }) => name)));
  checkPairs(turns);
  checkEnding(turns, thinks);
}

function addMessage(turns: Turn[], message: unknown, index: number, count: number): void {
  const path = `messages.${index}`;
  if (!isObject(message)) throw invalidRequest(path, "Input should be an object");
  const extra = Object.keys(message).find((name) => name !== "role" && name !== "content");
  if (extra !== undefined) throw invalidRequest(`${path}.${extra}`, "Extra inputs are not permitted");
  const role = String(message.role);
  if (role !== "user" && role !== "assistant" && role !== "system") {
    throw invalidRequest("messages", `Unexpected role "${role}". The allowed roles are "user" and "assistant".`);
  }
  if (role === "system" && turns.at(-1)?.role !== "user") {
    throw invalidRequest(path, "a message with role 'system' must follow a user message");
  }
  const isLastOwn = role === "assistant" && index === count - 1;
  const blocks = blocksOf(message.content, path, isLastOwn);
  const last = turns.at(-1);
  if (last?.role === role) appendAll(last.blocks, blocks);
  else turns.push({ role, path, blocks });
}

function blocksOf(content: unknown, path: string, mayBeEmpty: boolean): PlacedBlock[] {
  if (isAbsent(content)) throw invalidRequest(`${path}.content`, "Field required");
  if (typeof content !== "string" && !Array.isArray(content)) {
    throw invalidRequest(`${path}.content`, "Input should be a valid string or a valid list");
  }
  if (content.length === 0 && !mayBeEmpty) {
    throw invalidRequest(
      path,
      "all messages must have non-empty content except for the optional final assistant message",
    );
  }
  if (typeof content === "string") {
    return content === "" ? [] : [{ block: { type: "text", text: content }, path: `${path}.content` }];
  }
  return content.map((block, at) => {
    const place = `${path}.content.${at}`;
    if (!isObject(block)) throw invalidRequest(place, "Input should be an object");
    return { block, path: place };
  });
}

/** The role that may send a block. Absent blocks are allowed for both, documents until the version 2026-10-21. */
const WRITERS: Readonly<Record<string, string>> = {
  tool_use: "assistant",
  thinking: "assistant",
  redacted_thinking: "assistant",
  tool_result: "user",
  server_tool_use: "assistant",
  web_search_tool_result: "assistant",
  image: "user",
};
const ID = /^[a-zA-Z0-9_-]+$/;
const SEARCH_ID = /^srvtoolu_[a-zA-Z0-9_]+$/;

function checkBlock({ block, path }: PlacedBlock, role: string): void {
  checkBlockFields(block, path);
  const type = String(block.type);
  const writer = WRITERS[type];
  if (writer !== undefined && writer !== role) {
    throw invalidRequest(path, `\`${type}\` blocks can only be in \`${writer}\` messages`);
  }
  switch (type) {
    case "text":
      checkText(block.text, path);
      return objectsOf(block.citations).forEach(({ encrypted_index: index }, at) => {
        if (index === undefined || isIssued("messages", String(index))) return;
        throw invalidRequest(
          `${path}.text.citations.${at}`,
          "Invalid `encrypted_index` in `web_search_result_location`",
        );
      });
    case "image":
      return checkImage(block.source, `${path}.image.source`);
    case "tool_use":
      if (!ID.test(String(block.id))) {
        throw invalidRequest(`${path}.tool_use.id`, `String should match pattern '${ID.source}'`);
      }
      if (!isObject(block.input)) throw invalidRequest(`${path}.tool_use.input`, "Input should be a valid dictionary");
      return;
    case "tool_reference":
      throw invalidRequest(path, "`tool_reference` blocks can only be in the content of `tool_result` blocks");
    case "tool_result":
      return objectsOf(block.content).forEach((part, at) => {
        const partPath = `${path}.content.${at}`;
        if (part.type === "tool_reference") checkBlockFields(part, partPath);
        else checkBlock({ block: part, path: partPath }, role);
      });
    case "thinking":
      return checkSignature(block, path);
    case "server_tool_use":
      if (!SEARCH_ID.test(String(block.id))) {
        throw invalidRequest(`${path}.server_tool_use.id`, `String should match pattern '${SEARCH_ID.source}'`);
      }
      return;
    case "web_search_tool_result":
      return objectsOf(block.content).forEach((page, at) => {
        if (isIssued("messages", String(page.encrypted_content))) return;
        throw invalidRequest(`${path}.content.${at}`, "Invalid `encrypted_content` in `search_result` block");
      });
    case "redacted_thinking":
      if (!isIssued("messages", String(block.data))) {
        throw invalidRequest(path, "Invalid `data` in `redacted_thinking` block");
      }
  }
}

function checkText(text: unknown, path: string): void {
  if (typeof text !== "string") throw invalidRequest(`${path}.text.text`, "Field required");
  if (text === "") throw invalidRequest("messages", "text content blocks must be non-empty");
  if (text.trim() === "") throw invalidRequest("messages", "text content blocks must contain non-whitespace text");
}

const IMAGES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

function checkImage(source: unknown, path: string): void {
  if (!isObject(source)) throw invalidRequest(path, "Field required");
  if (source.type === "url") {
    if (!String(source.url).startsWith("https://")) {
      throw invalidRequest(`${path}.url`, "Only HTTPS URLs are supported.");
    }
    return;
  }
  if (source.type !== "base64") return;
  if (!IMAGES.includes(String(source.media_type))) {
    const words = "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'";
    throw invalidRequest(`${path}.base64.media_type`, words);
  }
  if (typeof source.data !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/.test(source.data)) {
    throw invalidRequest(`${path}.base64.data`, "Invalid base64 data");
  }
}

/** Reasoning must be sent back unchanged, or not at all. */
function checkSignature({ thinking, signature }: JsonObject, path: string): void {
  if (typeof thinking !== "string") throw invalidRequest(`${path}.thinking.thinking`, "Field required");
  if (typeof signature !== "string") throw invalidRequest(`${path}.thinking.signature`, "Field required");
  if (!isIssuedFor("messages", signature, thinking)) {
    throw invalidRequest(path, "Invalid `signature` in `thinking` block");
  }
}

/** Source: "Tool search tool", "Custom tool search implementation" and "Error handling". */
function checkReferences(turns: readonly Turn[], names: ReadonlySet<unknown>): void {
  for (const { block } of turns.flatMap(({ blocks }) => blocks)) {
    if (block.type !== "tool_result") continue;
    for (const { type, tool_name: name } of objectsOf(block.content)) {
      if (type !== "tool_reference" || names.has(name)) continue;
      throw invalidRequest("", `Tool reference '${name}' has no corresponding tool definition`);
    }
  }
}

function checkPairs(turns: readonly Turn[]): void {
  const used = new Set<unknown>();
  turns.forEach((turn, index) => {
    const calls = turn.blocks.filter(({ block }) => block.type === "tool_use");
    for (const { block, path } of calls) {
      if (used.has(block.id)) throw invalidRequest(path, "`tool_use` ids must be unique");
      used.add(block.id);
    }
    checkAnswers(turn, calls, turns[index + 1]);
    if (turn.role === "user") checkCalled(turn, turns[index - 1]);
  });
}

/** The next message must begin with the result of every call. */
function checkAnswers({ path }: Turn, calls: readonly PlacedBlock[], next: Turn | undefined): void {
  const results = next?.blocks ?? [];
  const end = results.findIndex(({ block }) => block.type !== "tool_result");
  const leading = results.slice(0, end < 0 ? results.length : end);
  const answered = new Set(leading.map(({ block }) => block.tool_use_id));
  const open = calls.filter(({ block }) => !answered.has(block.id)).map(({ block }) => block.id);
  if (open.length === 0) return;
  throw invalidRequest(
    path,
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each ` +
      "`tool_use` block must have a corresponding `tool_result` block in the next message.",
  );
}

function checkCalled(turn: Turn, previous: Turn | undefined): void {
  const called = new Set(previous?.role === "assistant" ? previous.blocks.map(({ block }) => block.id) : []);
  const seen = new Set<unknown>();
  for (const { block, path } of turn.blocks) {
    if (block.type !== "tool_result") continue;
    if (!called.has(block.tool_use_id)) {
      throw invalidRequest(
        path,
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. Each \`tool_result\` block ` +
          "must have a corresponding `tool_use` block in the previous message.",
      );
    }
    if (seen.has(block.tool_use_id)) {
      throw invalidRequest(
        path,
        `each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${block.tool_use_id}`,
      );
    }
    seen.add(block.tool_use_id);
  }
}

/**
 * The last messages must satisfy two rules: no trailing space in a partial reply, and reasoning first in a running tool
 * loop.
 */
function checkEnding(turns: readonly Turn[], thinks: boolean): void {
  const [opening] = turns;
  const last = turns.at(-1);
  if (opening === undefined || last === undefined) return;
  const text = last.blocks.at(-1)?.block.text;
  if (last.role === "assistant" && typeof text === "string" && text !== text.trimEnd()) {
    throw invalidRequest("messages", "final assistant content cannot end with trailing whitespace");
  }
  if (opening.role !== "user") throw invalidRequest("messages", 'first message must use the "user" role');
  const first = continuedTurn(turns)?.blocks[0];
  if (!thinks || !first || first.block.type === "thinking" || first.block.type === "redacted_thinking") return;
  throw invalidRequest(
    `${first.path}.type`,
    `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.block.type}\`. When \`thinking\` is enabled, a ` +
      "final `assistant` message must start with a thinking block.",
  );
}

/** The first message of the turn that the request continues: results of calls do not end it. */
function continuedTurn(turns: readonly Turn[]): Turn | undefined {
  const asked = turns.findLastIndex((turn) => turn.role === "user" && !isAnswer(turn));
  return turns.slice(asked + 1).find(({ role }) => role === "assistant");
}

function isAnswer({ blocks }: Turn): boolean {
  return blocks[0]?.block.type === "tool_result";
}
