import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type {
  FilePart,
  ImagePart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../../neutral/conversation.ts";
import { InOrder } from "../../../../platform/lib/collections/in_order.ts";
import { inputOf } from "../../../parts/request/call_input.ts";
import { joinedTexts } from "../../../parts/request/joined_texts.ts";
import { readSignature } from "../../../neutral/reasoning_signature.ts";
import { listOf, objectOf, textOf } from "../../../neutral/wire_value.ts";
import { hasValue } from "./fields.ts";
import { cacheOf, readContent } from "./read_parts.ts";
import { readReasoning } from "./reasoning.ts";

/** A turn being collected. Tool results come before other parts. */
interface OpenTurn {
  readonly role: Turn["role"];
  readonly results: Part[];
  readonly parts: Part[];
}

/** A call without a result so far. */
interface OpenCall {
  readonly callId: string;
  readonly tool: string;
  readonly custom: boolean;
  /** Index of the message with the call. */
  readonly messageIndex: number;
}

/** The calls so far. */
interface Calls {
  /** Open calls by the caller's id; `""` for calls without an id. */
  readonly open: Map<string, InOrder<OpenCall>>;
  readonly ids: Set<string>;
  /** How often each id occurred, so that a unique one is found without starting at 1. */
  readonly uses: Map<string, number>;
  /** The tools of all calls, by the caller's id. */
  readonly tools: Map<string, string>;
}

interface Reading {
  readonly instructions: TextPart[];
  readonly turns: OpenTurn[];
  /** Null before the first call, as most requests have none. */
  calls: Calls | null;
  readonly unsupportedFields: Set<string>;
}

/** Reads checked messages into instructions and turns. Calls and results are paired by unique ids. */
export function readMessages(
  messages: readonly unknown[],
  unsupportedFields: Set<string>,
): { instructions: TextPart[]; turns: Turn[] } {
  const reading: Reading = {
    instructions: [],
    turns: [],
    calls: null,
    unsupportedFields,
  };
  messages.forEach((message, i) => readMessage(message as JsonObject, i, reading));
  const turns = reading.turns.map(({ role, results, parts }) => ({ role, parts: [...results, ...parts] }));
  return { instructions: reading.instructions, turns };
}

function readMessage(message: JsonObject, i: number, reading: Reading): void {
  const content = () => readContent(message.content, `messages[${i}].content`, reading.unsupportedFields);
  if (hasValue(message.name) && message.role !== "tool" && message.role !== "function") {
    reading.unsupportedFields.add("messages.name");
  }
  const mark = cacheOf(message);
  switch (message.role) {
    case "system":
    case "developer":
      return addInstruction(withMark(content(), mark), reading);
    case "user":
      return addParts("user", withMark(content(), mark), reading);
    case "assistant":
      return addParts("assistant", withMark(readAssistant(message, content(), i, reading), mark), reading);
    case "tool":
      return addResult(
        { ...readResult(message, textOf(message.tool_call_id), content(), reading), ...mark },
        reading,
      );
    case "function":
      return addResult({ ...readResult(message, legacyId(message.name), content(), reading), ...mark }, reading);
  }
}

/** Kinds of parts that can end a prefix to cache. */
const MARKABLE: readonly Part["kind"][] = ["text", "image", "file", "tool_call"];

/** Puts the mark of a whole message, which relays have beside its content, on its last part. */
function withMark(parts: readonly Part[], mark: ReturnType<typeof cacheOf>): readonly Part[] {
  if (mark.cache === undefined) return parts;
  const last = parts.findLastIndex(({ kind }) => MARKABLE.includes(kind));
  return parts.map((part, index) => index === last ? { ...part, ...mark } : part);
}

function addInstruction(parts: readonly Part[], reading: Reading): void {
  const texts = parts.filter((part) => part.kind === "text");
  if (texts.length < parts.length) reading.unsupportedFields.add("messages.content");
  if (texts.length === 0) return;
  if (reading.turns.length === 0) appendAll(reading.instructions, texts);
  else reading.turns.push({ role: "system", results: [], parts: texts });
}

function addParts(role: "user" | "assistant", parts: readonly Part[], reading: Reading): void {
  if (parts.length === 0) return;
  const turn = openTurn(role, reading);
  // Pushed one by one, because the number of parts may exceed the maximum number of arguments.
  for (const part of parts) turn.parts.push(part);
}

function addResult(result: ToolResultPart, reading: Reading): void {
  openTurn("user", reading).results.push(result);
}

/** The last turn if it has this role, otherwise a new one: adjacent messages of one role form one turn. */
function openTurn(role: "user" | "assistant", reading: Reading): OpenTurn {
  const last = reading.turns.at(-1);
  if (last?.role === role) return last;
  const turn: OpenTurn = { role, results: [], parts: [] };
  reading.turns.push(turn);
  return turn;
}

function readAssistant(message: JsonObject, content: readonly Part[], i: number, reading: Reading): Part[] {
  const parts: Part[] = [...readReasoning(message), ...joinedTexts(content)];
  if (textOf(message.refusal) !== "") parts.push({ kind: "refusal", text: textOf(message.refusal) });
  if (hasValue(message.audio)) reading.unsupportedFields.add("messages.audio");
  listOf(message.tool_calls).forEach((entry, k) => {
    const call = readCall(objectOf(entry) ?? {}, i, k, reading);
    if (call) parts.push(call);
  });
  const legacy = legacyCallOf(message);
  if (legacy) parts.push(readLegacyCall(legacy, i, reading));
  return withMessageSignature(parts, message);
}

function readCall(fields: JsonObject, i: number, k: number, reading: Reading): ToolCallPart | null {
  const custom = fields.type === "custom";
  const called = objectOf(custom ? fields.custom : fields.function);
  if (!called) {
    reading.unsupportedFields.add(`messages.tool_calls.${textOf(fields.type)}`);
    return null;
  }
  const tool = textOf(called.name);
  const wireId = textOf(fields.id);
  const callId = openCall(wireId, wireId || `call_${i}_${k}`, { tool, custom, messageIndex: i }, reading);
  return {
    kind: "tool_call",
    callId,
    tool,
    input: custom ? textOf(called.input) : inputOf(called.arguments),
    ...(custom && { custom }),
    ...callSignatureOf(fields),
  };
}

function readLegacyCall(called: JsonObject, i: number, reading: Reading): ToolCallPart {
  const tool = textOf(called.name);
  const callId = openCall(legacyId(tool), `call_${i}`, { tool, custom: false, messageIndex: i }, reading);
  return { kind: "tool_call", callId, tool, input: inputOf(called.arguments) };
}

/** Legacy calls have no id: a result belongs to the last call of its function. */
function legacyId(name: unknown): string {
  return `function:${textOf(name)}`;
}

/** Adds an open call under a unique id, because weak models repeat ids. */
function openCall(wireId: string, preferredId: string, call: Omit<OpenCall, "callId">, reading: Reading): string {
  const calls = reading.calls ??= { open: new Map(), ids: new Set(), uses: new Map(), tools: new Map() };
  let callId = preferredId;
  let uses = calls.uses.get(preferredId) ?? 1;
  while (calls.ids.has(callId)) callId = `${preferredId}_${++uses}`;
  calls.uses.set(preferredId, uses);
  calls.ids.add(callId);
  const openCalls = calls.open.get(wireId);
  if (openCalls?.last?.messageIndex === call.messageIndex) openCalls.add({ ...call, callId });
  else calls.open.set(wireId, new InOrder({ ...call, callId }));
  calls.tools.set(wireId, call.tool);
  return callId;
}

function readResult(message: JsonObject, wireId: string, content: readonly Part[], reading: Reading): ToolResultPart {
  const { calls } = reading;
  const openCalls = calls?.open.get(wireId) ?? calls?.open.get("");
  const call = openCalls?.take();
  const parts = content.filter(isReturnable);
  if (parts.length < content.length) reading.unsupportedFields.add("messages.content");
  return {
    kind: "tool_result",
    callId: call?.callId ?? wireId,
    tool: call?.tool ?? calls?.tools.get(wireId) ?? (textOf(message.name) || null),
    parts,
    isError: false,
    ...(call?.custom && { custom: true }),
  };
}

function isReturnable(part: Part): part is TextPart | ImagePart | FilePart {
  return part.kind === "text" || part.kind === "image" || part.kind === "file";
}

/** The call in the deprecated `function_call`; null for an empty one, which some vendors send beside `tool_calls`. */
export function legacyCallOf(message: JsonObject): JsonObject | null {
  const legacy = objectOf(message.function_call);
  return legacy && (hasValue(legacy.name) || hasValue(legacy.arguments)) ? legacy : null;
}

/** The signature that one vendor attaches to a call: `extra_content.google.thought_signature`. */
export function callSignatureOf(fields: JsonObject): Pick<ToolCallPart, "signature"> {
  const signature = textOf(objectOf(objectOf(fields.extra_content)?.google)?.thought_signature);
  return signature === "" ? {} : { signature: readSignature(signature, "chat") };
}

/** Moves the signature of a whole message to its text, or else to its first call without one. */
export function withMessageSignature<P extends Part>(parts: readonly P[], message: JsonObject): P[] {
  const signed = callSignatureOf(message);
  if (!signed.signature) return [...parts];
  const text = parts.findIndex((part) => part.kind === "text");
  const at = text >= 0 ? text : parts.findIndex((part) => part.kind === "tool_call" && !part.signature);
  return parts.map((part, i) => i === at ? { ...part, ...signed } : part);
}
