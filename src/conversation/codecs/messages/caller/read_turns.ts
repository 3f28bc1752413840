import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Part, ReasoningPart, TextPart, ToolResultPart, Turn } from "../../../neutral/conversation.ts";
import { joinedTexts } from "../../../parts/request/joined_texts.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { isObject, textOf } from "../../../neutral/wire_value.ts";
import { type FieldNames, readCache } from "../shared/fields.ts";
import { isSkipped, readAssistantBlock, readText } from "../shared/parts.ts";
import { readContent, readContentBlock } from "./read_media.ts";
import { isSearchCall, searchResultsIn } from "../shared/search_blocks.ts";
import { readCallerSignature, readCarriedSignature } from "../shared/signatures.ts";

/** A turn that is being collected from consecutive messages of one role. */
interface OpenTurn {
  readonly role: Turn["role"];
  parts: Part[];
}

/**
 * Reads checked messages as turns. Consecutive messages of one role are joined, results come first, empty turns are
 * left out.
 *
 * @param unsupportedFields Receives the kinds of blocks that have no neutral form.
 * @throws {GatewayError} `invalid_request` for content with no equivalent in other formats.
 */
export function readTurns(messages: readonly JsonObject[], unsupportedFields: FieldNames): Turn[] {
  return readMessages(afterSummary(messages), unsupportedFields);
}

/**
 * The messages from the latest summary on, which stands for what came before it. It is written by the model in place of
 * the earlier turns, so it is read as text of the user, who begins every conversation.
 * Source: Messages API guide, "Compaction".
 */
function afterSummary(messages: readonly JsonObject[]): readonly JsonObject[] {
  const at = messages.findLastIndex(({ content }) => Array.isArray(content) && content.some(isSummary));
  if (at < 0) return messages;
  const { role, content } = messages[at]!;
  const blocks = content as JsonObject[];
  const last = blocks.findLastIndex(isSummary);
  const rest = blocks.slice(last + 1);
  const summary = { role: "user", content: [blocks[last]!] };
  return [summary, ...(rest.length > 0 ? [{ role, content: rest }] : []), ...messages.slice(at + 1)];
}

function isSummary(block: unknown): boolean {
  return isObject(block) && block.type === "compaction" && textOf(block.content) !== "";
}

function readMessages(messages: readonly JsonObject[], unsupportedFields: FieldNames): Turn[] {
  const tools = new Map<string, string>();
  const own = messages.flatMap(({ role, content }) => role === "assistant" && Array.isArray(content) ? content : []);
  const found = searchResultsIn(own);
  const searches = new Set<unknown>(own.filter(isSearchCall).map(({ id }) => id));
  const turns: OpenTurn[] = [];
  messages.forEach(({ role, content }, index) => {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content as JsonObject[];
    const parts = blocks.flatMap((block, position) =>
      role === "user"
        ? readUserBlock(block, `messages[${index}].content[${position}]`, tools, unsupportedFields)
        : readOwnBlock(block, role, { tools, found, searches }, unsupportedFields)
    );
    join(turns, role as Turn["role"], role === "assistant" ? joinedTexts(parts) : parts);
  });
  return turns.map(finishedTurn);
}

function join(turns: OpenTurn[], role: Turn["role"], parts: Part[]): void {
  if (parts.length === 0) return;
  const latest = turns.at(-1);
  if (latest?.role === role && role !== "system") appendAll(latest.parts, parts);
  else turns.push({ role, parts });
}

function finishedTurn({ role, parts }: OpenTurn): Turn {
  if (role === "assistant") return { role, parts: withCarriedSignatures(parts) };
  const isResult = (part: Part) => part.kind === "tool_result";
  return { role, parts: [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))] };
}

function readUserBlock(
  block: JsonObject,
  path: string,
  tools: Map<string, string>,
  unsupportedFields: FieldNames,
): Part[] {
  if (block.type === "tool_result") return [readResult(block, path, tools, unsupportedFields)];
  if (isSummary(block)) {
    unsupportedFields.add("messages.content.compaction"); // in another form
    return [{ kind: "text", text: textOf(block.content), ...readCache(block) }];
  }
  const parts = readContentBlock(block, path, unsupportedFields);
  if (parts === null) unsupportedFields.add(`messages.content.${block.type}`);
  return parts ?? [];
}

function readResult(
  block: JsonObject,
  path: string,
  tools: Map<string, string>,
  unsupportedFields: FieldNames,
): ToolResultPart {
  const callId = block.tool_use_id as string;
  return {
    kind: "tool_result",
    callId,
    tool: tools.get(callId) ?? null,
    parts: readContent(block.content, path, unsupportedFields),
    isError: block.is_error === true,
    ...readCache(block),
  };
}

/** Calls and web search results in the blocks of a request. */
interface Called {
  /** Tools by the ids of their calls. */
  readonly tools: Map<string, string>;
  readonly found: ReadonlyMap<unknown, JsonObject>;
  /** The ids of web search calls. */
  readonly searches: ReadonlySet<unknown>;
}

/** Reads a block of an assistant or system message. */
function readOwnBlock(
  block: JsonObject,
  role: unknown,
  { tools, found, searches }: Called,
  unsupportedFields: FieldNames,
): Part[] {
  // The results of a search are read with its call; without the call they are dropped.
  const isOrphan = block.type === "web_search_tool_result" && !searches.has(block.tool_use_id);
  if (isSkipped(block) || isOrphan || (role === "system" && block.type !== "text")) {
    unsupportedFields.add(`messages.content.${block.type}`);
    return [];
  }
  const part = readAssistantBlock(block, readCallerSignature, found);
  if (part?.kind === "tool_call") tools.set(part.callId, part.tool);
  return part === null ? [] : [part];
}

/** Moves signatures in blocks of their own to the calls and texts that they were issued with. */
function withCarriedSignatures(parts: readonly Part[]): Part[] {
  const kept: Part[] = [];
  const signatureByCall = new Map<string, ReasoningSignature>();
  parts.forEach((part, index) => {
    if (!mayCarry(part)) return void kept.push(part);
    const { signature, owner } = readCarriedSignature(part.signature);
    const previous = kept.at(-1);
    const next = parts[index + 1];
    if (owner?.kind === "call") signatureByCall.set(owner.callId, signature);
    else if (owner?.kind === "text") {
      if (previous?.kind === "text" && !previous.signature) kept[kept.length - 1] = { ...previous, signature };
    } else if (signature.format === "content" && next?.kind === "tool_call") {
      signatureByCall.set(next.callId, signature);
    } else kept.push(part);
  });
  return kept.map((part) => {
    if (part.kind !== "tool_call") return part;
    const signature = signatureByCall.get(part.callId);
    return signature === undefined ? part : { ...part, signature };
  });
}

/** True for thinking without text whose signature has another format. */
function mayCarry(part: Part): part is ReasoningPart & { signature: ReasoningSignature } {
  return part.kind === "reasoning" && part.text === "" && !part.redacted && part.signature !== undefined &&
    part.signature.format !== "messages";
}

/** Reads the blocks of `system`, without the line that one client adds for its own accounting. */
export function readInstructions(system: unknown, unsupportedFields: FieldNames): TextPart[] {
  if (typeof system === "string") return system === "" ? [] : [{ kind: "text", text: system }];
  if (!Array.isArray(system)) return [];
  return system.filter(isObject).flatMap((block, index) => {
    if (block.type !== "text") unsupportedFields.add(`system.${block.type}`);
    const part = block.type === "text" ? readText(block) : null;
    return part === null || (index === 0 && part.text.startsWith(BILLING_LINE)) ? [] : [part];
  });
}

/** The line differs between client versions, which would defeat prompt caches, and has no meaning for other vendors. */
const BILLING_LINE = "x-anthropic-billing-header:";
