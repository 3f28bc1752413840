import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Part, ReasoningPart, TextPart, ToolResultPart, Turn } from "../../../conversation.ts";
import type { ReasoningSignature } from "../../../reasoning_signature.ts";
import { isObject } from "../../../wire_value.ts";
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
 * @param beyond Receives the kinds of blocks that have no neutral form.
 * @throws {GatewayError} `invalid_request` for content with no equivalent in other formats.
 */
export function readTurns(messages: readonly JsonObject[], beyond: FieldNames): Turn[] {
  const tools = new Map<string, string>();
  const own = messages.flatMap(({ role, content }) => role === "assistant" && Array.isArray(content) ? content : []);
  const found = searchResultsIn(own);
  const searches = new Set<unknown>(own.filter(isSearchCall).map(({ id }) => id));
  const turns: OpenTurn[] = [];
  messages.forEach(({ role, content }, index) => {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content as JsonObject[];
    const parts = blocks.flatMap((block, position) =>
      role === "user"
        ? readUserBlock(block, `messages[${index}].content[${position}]`, tools, beyond)
        : readOwnBlock(block, role, { tools, found, searches }, beyond)
    );
    join(turns, role as Turn["role"], parts);
  });
  return turns.map(finishedTurn);
}

function join(turns: OpenTurn[], role: Turn["role"], parts: Part[]): void {
  if (parts.length === 0) return;
  const latest = turns.at(-1);
  if (latest?.role === role && role !== "system") latest.parts.push(...parts);
  else turns.push({ role, parts });
}

function finishedTurn({ role, parts }: OpenTurn): Turn {
  if (role === "assistant") return { role, parts: withCarriedSeals(parts) };
  const isResult = (part: Part) => part.kind === "tool_result";
  return { role, parts: [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))] };
}

function readUserBlock(block: JsonObject, path: string, tools: Map<string, string>, beyond: FieldNames): Part[] {
  if (block.type === "tool_result") return [readResult(block, path, tools, beyond)];
  const parts = readContentBlock(block, path, beyond);
  if (parts === null) beyond.add(`messages.content.${block.type}`);
  return parts ?? [];
}

function readResult(block: JsonObject, path: string, tools: Map<string, string>, beyond: FieldNames): ToolResultPart {
  const callId = block.tool_use_id as string;
  return {
    kind: "tool_result",
    callId,
    tool: tools.get(callId) ?? null,
    parts: readContent(block.content, path, beyond),
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
  beyond: FieldNames,
): Part[] {
  // The results of a search are read with its call; without the call they are dropped.
  const isOrphan = block.type === "web_search_tool_result" && !searches.has(block.tool_use_id);
  if (isSkipped(block) || isOrphan || (role === "system" && block.type !== "text")) {
    beyond.add(`messages.content.${block.type}`);
    return [];
  }
  const part = readAssistantBlock(block, readCallerSignature, found);
  if (part?.kind === "tool_call") tools.set(part.callId, part.tool);
  return part === null ? [] : [part];
}

/** Moves signatures in blocks of their own to the calls and texts that they were issued with. */
function withCarriedSeals(parts: readonly Part[]): Part[] {
  const kept: Part[] = [];
  const sealOfCall = new Map<string, ReasoningSignature>();
  parts.forEach((part, index) => {
    if (!mayCarry(part)) return void kept.push(part);
    const { seal, bearer } = readCarriedSignature(part.seal);
    const previous = kept.at(-1);
    const next = parts[index + 1];
    if (bearer?.kind === "call") sealOfCall.set(bearer.callId, seal);
    else if (bearer?.kind === "text") {
      if (previous?.kind === "text" && !previous.seal) kept[kept.length - 1] = { ...previous, seal };
    } else if (seal.form === "content" && next?.kind === "tool_call") sealOfCall.set(next.callId, seal);
    else kept.push(part);
  });
  return kept.map((part) => {
    if (part.kind !== "tool_call") return part;
    const seal = sealOfCall.get(part.callId);
    return seal === undefined ? part : { ...part, seal };
  });
}

/** True for thinking without text whose signature has another format. */
function mayCarry(part: Part): part is ReasoningPart & { seal: ReasoningSignature } {
  return part.kind === "reasoning" && part.text === "" && !part.redacted && part.seal !== undefined &&
    part.seal.form !== "messages";
}

/** Reads the blocks of `system`, without the line that one client adds for its own accounting. */
export function readInstructions(system: unknown, beyond: FieldNames): TextPart[] {
  if (typeof system === "string") return system === "" ? [] : [{ kind: "text", text: system }];
  if (!Array.isArray(system)) return [];
  return system.filter(isObject).flatMap((block, index) => {
    if (block.type !== "text") beyond.add(`system.${block.type}`);
    const part = block.type === "text" ? readText(block) : null;
    return part === null || (index === 0 && part.text.startsWith(BILLING_LINE)) ? [] : [part];
  });
}

/** The line differs between client versions, which would defeat prompt caches, and has no meaning for other vendors. */
const BILLING_LINE = "x-anthropic-billing-header:";
