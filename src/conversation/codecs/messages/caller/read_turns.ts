import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Part, ReasoningPart, TextPart, ToolResultPart, Turn } from "../../../conversation.ts";
import type { Seal } from "../../../seal.ts";
import { isObject } from "../../../wire_value.ts";
import { type Names, readCache } from "../shared/fields.ts";
import { isSkipped, readSpoken, readText } from "../shared/parts.ts";
import { readContent, readShown } from "./read_media.ts";
import { isSearchCall, searchResultsIn } from "../shared/search_blocks.ts";
import { callerSeal, readCarriedSeal } from "../shared/seals.ts";

/** A turn that is still being gathered from neighbours of one role. */
interface OpenTurn {
  readonly role: Turn["role"];
  parts: Part[];
}

/**
 * The messages of a checked body as turns: neighbours of one role joined, results first, empty turns left out.
 *
 * @param beyond Takes the kinds of blocks that have no neutral word.
 * @throws {GatewayError} `invalid_request` for what cannot be translated.
 */
export function readTurns(messages: readonly JsonObject[], beyond: Names): Turn[] {
  const tools = new Map<string, string>();
  const own = messages.flatMap(({ role, content }) => role === "assistant" && Array.isArray(content) ? content : []);
  const found = searchResultsIn(own);
  const searches = new Set<unknown>(own.filter(isSearchCall).map(({ id }) => id));
  const turns: OpenTurn[] = [];
  messages.forEach(({ role, content }, index) => {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content as JsonObject[];
    const parts = blocks.flatMap((block, place) =>
      role === "user"
        ? readUserBlock(block, `messages[${index}].content[${place}]`, tools, beyond)
        : readOwnBlock(block, role, { tools, found, searches }, beyond)
    );
    join(turns, role as Turn["role"], parts);
  });
  return turns.map(settled);
}

function join(turns: OpenTurn[], role: Turn["role"], parts: Part[]): void {
  if (parts.length === 0) return;
  const latest = turns.at(-1);
  if (latest?.role === role && role !== "system") latest.parts.push(...parts);
  else turns.push({ role, parts });
}

function settled({ role, parts }: OpenTurn): Turn {
  if (role === "assistant") return { role, parts: withCarriedSeals(parts) };
  const isResult = (part: Part) => part.kind === "tool_result";
  return { role, parts: [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))] };
}

function readUserBlock(block: JsonObject, path: string, tools: Map<string, string>, beyond: Names): Part[] {
  if (block.type === "tool_result") return [readResult(block, path, tools, beyond)];
  const parts = readShown(block, path, beyond);
  if (parts === null) beyond.add(`messages.content.${block.type}`);
  return parts ?? [];
}

function readResult(block: JsonObject, path: string, tools: Map<string, string>, beyond: Names): ToolResultPart {
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

/** What the blocks of a request call, and what those of the vendor's own search found. */
interface Called {
  /** Tools by the ids of their calls. */
  readonly tools: Map<string, string>;
  readonly found: ReadonlyMap<unknown, JsonObject>;
  /** The ids of the calls of that search. */
  readonly searches: ReadonlySet<unknown>;
}

/** A block of an assistant or system message. */
function readOwnBlock(block: JsonObject, role: unknown, { tools, found, searches }: Called, beyond: Names): Part[] {
  // What a search found is read with its call, and means nothing without one.
  const isOrphan = block.type === "web_search_tool_result" && !searches.has(block.tool_use_id);
  if (isSkipped(block) || isOrphan || (role === "system" && block.type !== "text")) {
    beyond.add(`messages.content.${block.type}`);
    return [];
  }
  const part = readSpoken(block, callerSeal, found);
  if (part?.kind === "tool_call") tools.set(part.callId, part.tool);
  return part === null ? [] : [part];
}

/** Gives the seals that blocks of their own carried home to the calls and texts that they were issued with. */
function withCarriedSeals(parts: readonly Part[]): Part[] {
  const settled: Part[] = [];
  const sealOfCall = new Map<string, Seal>();
  parts.forEach((part, index) => {
    if (!mayCarry(part)) return void settled.push(part);
    const { seal, bearer } = readCarriedSeal(part.seal);
    const previous = settled.at(-1);
    const next = parts[index + 1];
    if (bearer?.kind === "call") sealOfCall.set(bearer.callId, seal);
    else if (bearer?.kind === "text") {
      if (previous?.kind === "text" && !previous.seal) settled[settled.length - 1] = { ...previous, seal };
    } else if (seal.form === "content" && next?.kind === "tool_call") sealOfCall.set(next.callId, seal);
    else settled.push(part);
  });
  return settled.map((part) => {
    if (part.kind !== "tool_call") return part;
    const seal = sealOfCall.get(part.callId);
    return seal === undefined ? part : { ...part, seal };
  });
}

/** True for thinking that shows nothing but a seal, and that of another form. */
function mayCarry(part: Part): part is ReasoningPart & { seal: Seal } {
  return part.kind === "reasoning" && part.text === "" && !part.redacted && part.seal !== undefined &&
    part.seal.form !== "messages";
}

/** The blocks of `system` as instructions, without the line by which one client counts its own use. */
export function readInstructions(system: unknown, beyond: Names): TextPart[] {
  if (typeof system === "string") return system === "" ? [] : [{ kind: "text", text: system }];
  if (!Array.isArray(system)) return [];
  return system.filter(isObject).flatMap((block, index) => {
    if (block.type !== "text") beyond.add(`system.${block.type}`);
    const part = block.type === "text" ? readText(block) : null;
    return part === null || (index === 0 && part.text.startsWith(BILLING_LINE)) ? [] : [part];
  });
}

/**
 * It changes with version and entry point of the client, so it would spoil prompt caches, and it tells others nothing.
 */
const BILLING_LINE = "x-anthropic-billing-header:";
