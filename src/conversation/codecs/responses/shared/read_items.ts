import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Part, TextPart, Tool, ToolCallPart, ToolResultPart, Turn } from "../../../neutral/conversation.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { inputOf } from "../../../parts/request/call_input.ts";
import { joinedTexts } from "../../../parts/request/joined_texts.ts";
import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import { readCarriedSignature } from "./carried_signature.ts";
import { unsupportedReference } from "./media.ts";
import { readSearchItem } from "./search_items.ts";
import { readAssistantPart, readOutput, readUserPart } from "./parts.ts";
import { namespacedName, readTools } from "./tools.ts";
import { textOf, textOrNull } from "../../../neutral/wire_value.ts";
import { reasoningTextOf } from "./wire.ts";

/** The input items of a request in the neutral form. */
export interface ItemsRead {
  readonly instructions: readonly TextPart[];
  readonly turns: readonly Turn[];
  /** Tools of `additional_tools` items. */
  readonly tools: readonly Tool[];
}

/** A turn, linked to the next: a result may add a turn between two others, which a list would move each time. */
interface DraftTurn {
  readonly role: Turn["role"];
  /** They come before the other parts. */
  readonly results: ToolResultPart[];
  readonly parts: Part[];
  next: DraftTurn | null;
}

interface Reading {
  readonly instructions: TextPart[];
  first: DraftTurn | null;
  last: DraftTurn | null;
  lastAssistant: DraftTurn | null;
  /** The last text of an assistant turn, as an index of its parts. */
  lastText: { readonly turn: DraftTurn; readonly at: number } | null;
  readonly tools: Tool[];
  /** Neutral names of the tools in the `tools` field. */
  readonly offered: ReadonlySet<string>;
  /** Names of the tools of `additional_tools` items. */
  readonly added: Set<string>;
  /** The latest call of each id, with its turn and tool. */
  readonly calls: Map<string, { readonly turn: DraftTurn; readonly tool: string }>;
  /** Signatures of calls, which may precede or follow the call. */
  readonly callSignatures: Map<string, ReasoningSignature>;
  /** The tool that is read as the request's web search. */
  readonly search: JsonObject | null;
  readonly unsupportedFields: Set<string>;
}

/**
 * Reads input items into turns, in order. Adjacent items of one role form one turn. Results are moved to the turn after
 * their call, before its other parts. System text before the first turn becomes instructions.
 *
 * @param tools Those of the `tools` field, to resolve calls with a namespace.
 * @param search The tool that is read as the request's web search; null when it offers none.
 * @throws {GatewayError} `invalid_request` for items that only the vendor can resolve.
 */
export function readItems(
  items: readonly JsonObject[],
  tools: readonly Tool[],
  search: JsonObject | null,
  unsupportedFields: Set<string>,
): ItemsRead {
  const reading: Reading = {
    instructions: [],
    first: null,
    last: null,
    lastAssistant: null,
    lastText: null,
    tools: [],
    offered: new Set(tools.map((tool) => tool.name)),
    added: new Set(),
    calls: new Map(),
    callSignatures: new Map(),
    search,
    unsupportedFields,
  };
  items.forEach((item, index) => readItem(item, `input[${index}]`, reading));
  return { instructions: reading.instructions, turns: turnsOf(reading), tools: reading.tools };
}

/** The turns in order, with the signatures of their calls, which may follow the call. */
function turnsOf({ first, callSignatures }: Reading): Turn[] {
  const turns: Turn[] = [];
  for (let turn = first; turn !== null; turn = turn.next) {
    const parts = callSignatures.size === 0
      ? turn.parts
      : turn.parts.map((part) => withSignature(part, callSignatures));
    turns.push({ role: turn.role, parts: [...turn.results, ...parts] });
  }
  return turns;
}

function withSignature(part: Part, signatures: Reading["callSignatures"]): Part {
  const signature = part.kind === "tool_call" ? signatures.get(part.callId) : undefined;
  return signature ? { ...part, signature } as ToolCallPart : part;
}

function readItem(item: JsonObject, path: string, reading: Reading): void {
  const kind = item.type ?? "message";
  switch (kind) {
    case "message":
      return readMessage(item, path, reading);
    case "function_call":
    case "custom_tool_call":
      return readCall(item, kind === "custom_tool_call", reading);
    case "function_call_output":
    case "custom_tool_call_output":
      return readResult(item, path, kind === "custom_tool_call_output", reading);
    case "reasoning":
      return readReasoning(item, reading);
    case "image_generation_call":
      return readPicture(item, reading);
    case "web_search_call":
      return readSearch(item, reading);
    case "additional_tools":
      return addTools(item.tools, reading);
    case "item_reference":
      throw unsupportedReference(path, 'send the item itself instead (clients do so with "store": false)');
    case "compaction":
      throw unsupportedReference(path, "send the compacted items instead");
    default:
      reading.unsupportedFields.add(`input.${textOf(kind)}`);
  }
}

function addTools(tools: unknown, { search, unsupportedFields, ...reading }: Reading): void {
  for (const tool of readTools(tools, search, unsupportedFields, "input.additional_tools.tools")) {
    reading.tools.push(tool);
    reading.added.add(tool.name);
  }
}

function readMessage(item: JsonObject, path: string, reading: Reading): void {
  const role = item.role === "developer" ? "system" : item.role as Turn["role"];
  const content = typeof item.content === "string"
    ? [{ type: "input_text", text: item.content }]
    : item.content as JsonObject[];
  if (role === "assistant") {
    const parts = content.flatMap((block, index) =>
      readAssistantPart(block, `${path}.content[${index}]`, reading.unsupportedFields) ?? []
    );
    for (const part of joinedTexts(parts)) add(role, part, reading);
    return;
  }
  for (const [index, block] of content.entries()) {
    const part = readUserPart(block, `${path}.content[${index}]`, reading.unsupportedFields);
    if (part === null) continue;
    if (role !== "system") add(role, part, reading);
    else if (part.kind === "text") addInstruction(part, reading);
    else reading.unsupportedFields.add(`input.content.${textOf(block.type)}`);
  }
}

function add(role: "user" | "assistant", part: Part, reading: Reading): DraftTurn {
  const turn = reading.last?.role === role ? reading.last : addTurn(role, reading.last, reading);
  turn.parts.push(part);
  if (role === "assistant") {
    reading.lastAssistant = turn;
    if (part.kind === "text") reading.lastText = { turn, at: turn.parts.length - 1 };
  }
  return turn;
}

/** Adds an empty turn after another; null if it is the first. */
function addTurn(role: Turn["role"], previous: DraftTurn | null, reading: Reading): DraftTurn {
  const turn: DraftTurn = { role, results: [], parts: [], next: previous?.next ?? null };
  if (previous === null) reading.first = turn;
  else previous.next = turn;
  if (previous === reading.last) reading.last = turn;
  return turn;
}

function addInstruction(part: TextPart, reading: Reading): void {
  if (reading.last === null) reading.instructions.push(part);
  else addTurn("system", reading.last, reading).parts.push(part);
}

function readCall(item: JsonObject, custom: boolean, reading: Reading): void {
  const callId = textOf(item.call_id);
  const tool = calledTool(textOf(item.namespace), textOf(item.name), reading);
  const call: ToolCallPart = custom
    ? { kind: "tool_call", callId, tool, input: textOf(item.input), custom: true }
    : { kind: "tool_call", callId, tool, input: inputOf(item.arguments) };
  const turn = add("assistant", call, reading);
  reading.calls.set(callId, { turn, tool });
}

/** The name of a called tool. A namespace that is no longer offered still distinguishes tools of one name. */
function calledTool(namespace: string, name: string, { offered, added }: Reading): string {
  const inner = namespacedName(namespace, name);
  const isPlain = namespace === "" || offered.has(name) || added.has(name);
  return isPlain && !offered.has(inner) ? name : inner;
}

function readResult(item: JsonObject, path: string, custom: boolean, reading: Reading): void {
  const callId = textOf(item.call_id);
  const call = reading.calls.get(callId);
  const result: ToolResultPart = {
    kind: "tool_result",
    callId,
    tool: call?.tool ?? null,
    parts: readOutput(item.output, `${path}.output`, reading.unsupportedFields),
    isError: false,
    ...(custom ? { custom } : {}),
  };
  const { last } = reading;
  const turn = call ? call.turn.next : last;
  const user = turn?.role === "user" ? turn : addTurn("user", call?.turn ?? last, reading);
  user.results.push(result);
}

function readReasoning(item: JsonObject, reading: Reading): void {
  const text = reasoningTextOf(item);
  const encryptedContent = textOrNull(item.encrypted_content);
  const id = textOrNull(item.id);
  const named = id ? { id } : {};
  if (encryptedContent === null) {
    if (text !== "") add("assistant", { kind: "reasoning", text, ...named }, reading);
    return;
  }
  const { signature, owner } = readCarriedSignature(encryptedContent);
  switch (owner.kind) {
    case "call":
      reading.callSignatures.set(owner.callId, signature);
      return;
    case "text":
      return signLastText(signature, reading);
    case "reasoning": {
      const redacted = owner.redacted ? { redacted: true } : {};
      add("assistant", { kind: "reasoning", text, signature, ...redacted, ...named }, reading);
    }
  }
}

function signLastText(signature: ReasoningSignature, reading: Reading): void {
  const { lastText, lastAssistant } = reading;
  if (lastText === null || lastText.turn !== lastAssistant) return;
  const { turn, at } = lastText;
  turn.parts[at] = { ...turn.parts[at], signature } as TextPart;
}

function readSearch(item: JsonObject, reading: Reading): void {
  const search = readSearchItem(item);
  if (search) add("assistant", search, reading);
  else reading.unsupportedFields.add("input.web_search_call");
}

function readPicture(item: JsonObject, reading: Reading): void {
  const picture = imageOf(item);
  if (picture) add("assistant", picture, reading);
  else reading.unsupportedFields.add("input.image_generation_call");
}

/** The image of an `image_generation_call`; null while it has none. */
export function imageOf(item: JsonObject): Extract<Part, { kind: "image" }> | null {
  const data = textOf(item.result);
  if (data === "") return null;
  const mediaType = `image/${textOrNull(item.output_format) ?? "png"}`;
  return { kind: "image", source: { kind: "base64", mediaType, data } };
}

/** The input as items. @throws {GatewayError} If it is neither a string nor an array. */
export function itemsOf(input: unknown): JsonObject[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  if (Array.isArray(input)) return input as JsonObject[];
  throw invalidField("input", "expected a string or an array of items");
}
