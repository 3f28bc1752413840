import type { JsonObject } from "../../../../lib/json_object.ts";
import type { FilePart, ImagePart, Part, TextPart, ToolCallPart, ToolResultPart, Turn } from "../../../conversation.ts";
import { readSeal } from "../../../seal.ts";
import { listOf, objectOf, textOf } from "../../../wire_value.ts";
import { saysSomething } from "./fields.ts";
import { readContent } from "./read_parts.ts";
import { readReasoning } from "./reasoning.ts";

/** A turn being gathered: what tools returned stands before what the user says. */
interface OpenTurn {
  readonly role: Turn["role"];
  readonly results: Part[];
  readonly parts: Part[];
}

/** A call that waits for its result, under the id that the caller spelled. */
interface OpenCall {
  readonly callId: string;
  readonly tool: string;
  readonly custom: boolean;
  /** Index of the message that made it. */
  readonly madeBy: number;
}

interface Reading {
  readonly instructions: TextPart[];
  readonly turns: OpenTurn[];
  /** Open calls by the caller's id; `""` for calls without one. */
  readonly open: Map<string, OpenCall[]>;
  readonly callIds: Set<string>;
  /** How often an id was met, so that the next free one is not looked for from the start. */
  readonly uses: Map<string, number>;
  /** The tools of every call met, by the caller's id. */
  readonly tools: Map<string, string>;
  readonly beyond: Set<string>;
}

/** Messages as instructions and turns, calls and results paired by unique ids. The messages were checked before. */
export function readMessages(
  messages: readonly unknown[],
  beyond: Set<string>,
): { instructions: TextPart[]; turns: Turn[] } {
  const reading: Reading = {
    instructions: [],
    turns: [],
    open: new Map(),
    callIds: new Set(),
    uses: new Map(),
    tools: new Map(),
    beyond,
  };
  messages.forEach((message, i) => readMessage(message as JsonObject, i, reading));
  const turns = reading.turns.map(({ role, results, parts }) => ({ role, parts: [...results, ...parts] }));
  return { instructions: reading.instructions, turns };
}

function readMessage(message: JsonObject, i: number, reading: Reading): void {
  const content = () => readContent(message.content, `messages[${i}].content`, reading.beyond);
  if (saysSomething(message.name) && message.role !== "tool" && message.role !== "function") {
    reading.beyond.add("messages.name");
  }
  switch (message.role) {
    case "system":
    case "developer":
      return addInstruction(content(), reading);
    case "user":
      return addParts("user", content(), reading);
    case "assistant":
      return addParts("assistant", readAssistant(message, content(), i, reading), reading);
    case "tool":
      return addResult(readResult(message, textOf(message.tool_call_id), content(), reading), reading);
    case "function":
      return addResult(readResult(message, legacyId(message.name), content(), reading), reading);
  }
}

function addInstruction(parts: readonly Part[], reading: Reading): void {
  const texts = parts.filter((part) => part.kind === "text");
  if (texts.length < parts.length) reading.beyond.add("messages.content");
  if (texts.length === 0) return;
  if (reading.turns.length === 0) reading.instructions.push(...texts);
  else reading.turns.push({ role: "system", results: [], parts: texts });
}

function addParts(role: "user" | "assistant", parts: readonly Part[], reading: Reading): void {
  if (parts.length === 0) return;
  const turn = openTurn(role, reading);
  // One by one: there may be more than a call takes arguments.
  for (const part of parts) turn.parts.push(part);
}

function addResult(result: ToolResultPart, reading: Reading): void {
  openTurn("user", reading).results.push(result);
}

/** The last turn if it is this role's, else a new one: neighbours of one role are one turn. */
function openTurn(role: "user" | "assistant", reading: Reading): OpenTurn {
  const last = reading.turns.at(-1);
  if (last?.role === role) return last;
  const turn: OpenTurn = { role, results: [], parts: [] };
  reading.turns.push(turn);
  return turn;
}

function readAssistant(message: JsonObject, content: readonly Part[], i: number, reading: Reading): Part[] {
  const parts: Part[] = [...readReasoning(message), ...content];
  if (textOf(message.refusal) !== "") parts.push({ kind: "refusal", text: textOf(message.refusal) });
  if (saysSomething(message.audio)) reading.beyond.add("messages.audio");
  listOf(message.tool_calls).forEach((entry, k) => {
    const call = readCall(objectOf(entry) ?? {}, i, k, reading);
    if (call) parts.push(call);
  });
  const legacy = objectOf(message.function_call);
  if (legacy) parts.push(readLegacyCall(legacy, i, reading));
  return sealedByMessage(parts, message);
}

function readCall(fields: JsonObject, i: number, k: number, reading: Reading): ToolCallPart | null {
  const custom = fields.type === "custom";
  const called = objectOf(custom ? fields.custom : fields.function);
  if (!called) {
    reading.beyond.add(`messages.tool_calls.${textOf(fields.type)}`);
    return null;
  }
  const tool = textOf(called.name);
  const wireId = textOf(fields.id);
  const callId = openCall(wireId, wireId || `call_${i}_${k}`, { tool, custom, madeBy: i }, reading);
  return {
    kind: "tool_call",
    callId,
    tool,
    input: custom ? textOf(called.input) : readArguments(called.arguments),
    ...(custom && { custom }),
    ...callSealOf(fields),
  };
}

function readLegacyCall(called: JsonObject, i: number, reading: Reading): ToolCallPart {
  const tool = textOf(called.name);
  const callId = openCall(legacyId(tool), `call_${i}`, { tool, custom: false, madeBy: i }, reading);
  return { kind: "tool_call", callId, tool, input: readArguments(called.arguments) };
}

/** Legacy calls have no id: a result answers the last call of its function. */
function legacyId(name: unknown): string {
  return `function:${textOf(name)}`;
}

/** Opens a call under an id that no other call of the conversation has: weak models repeat theirs. */
function openCall(wireId: string, wanted: string, call: Omit<OpenCall, "callId">, reading: Reading): string {
  let callId = wanted;
  let uses = reading.uses.get(wanted) ?? 1;
  while (reading.callIds.has(callId)) callId = `${wanted}_${++uses}`;
  reading.uses.set(wanted, uses);
  reading.callIds.add(callId);
  const waiting = reading.open.get(wireId);
  if (waiting !== undefined && waiting.at(-1)?.madeBy === call.madeBy) waiting.push({ ...call, callId });
  else reading.open.set(wireId, [{ ...call, callId }]);
  reading.tools.set(wireId, call.tool);
  return callId;
}

function readResult(message: JsonObject, wireId: string, content: readonly Part[], reading: Reading): ToolResultPart {
  const waiting = reading.open.get(wireId) ?? reading.open.get("");
  const call = waiting?.shift();
  const parts = content.filter(isReturnable);
  if (parts.length < content.length) reading.beyond.add("messages.content");
  return {
    kind: "tool_result",
    callId: call?.callId ?? wireId,
    tool: call?.tool ?? reading.tools.get(wireId) ?? (textOf(message.name) || null),
    parts,
    isError: false,
    ...(call?.custom && { custom: true }),
  };
}

function isReturnable(part: Part): part is TextPart | ImagePart | FilePart {
  return part.kind === "text" || part.kind === "image" || part.kind === "file";
}

/** Arguments as JSON text, never empty; an object is against the form, yet sent. */
export function readArguments(value: unknown): string {
  if (objectOf(value)) return JSON.stringify(value);
  return textOf(value) || "{}";
}

/** The proof that one vendor puts on a call, `extra_content.google.thought_signature`. */
export function callSealOf(fields: JsonObject): Pick<ToolCallPart, "seal"> {
  const signature = textOf(objectOf(objectOf(fields.extra_content)?.google)?.thought_signature);
  return signature === "" ? {} : { seal: readSeal(signature, "chat") };
}

/** A proof on the whole message belongs to its text, else to its first call without one. */
export function sealedByMessage<P extends Part>(parts: readonly P[], message: JsonObject): P[] {
  const sealed = callSealOf(message);
  if (!sealed.seal) return [...parts];
  const text = parts.findIndex((part) => part.kind === "text");
  const at = text >= 0 ? text : parts.findIndex((part) => part.kind === "tool_call" && !part.seal);
  return parts.map((part, i) => i === at ? { ...part, ...sealed } : part);
}
