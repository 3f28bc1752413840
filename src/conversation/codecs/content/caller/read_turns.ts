import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ImagePart, Part, ReasoningPart, TextPart, Turn } from "../../../neutral/conversation.ts";
import { inputOf } from "../../../parts/request/call_input.ts";
import { newCallId } from "../shared/calls.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";
import { field, objectsIn, spellingOf } from "../shared/fields.ts";
import { readMedia } from "../shared/parts.ts";
import { readPartSignature, reasoningOf } from "../shared/signatures.ts";
import { readResult } from "../shared/tool_results.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

/** A call without a response so far. */
interface OpenCall {
  readonly callId: string;
  readonly tool: string;
  answered: boolean;
}

/**
 * Calls in order, and the index of the first that may be without a response, so that a history is read in linear time.
 */
interface Queue {
  readonly calls: OpenCall[];
  next: number;
}

/** The state of reading the turns. */
interface Walk {
  readonly turns: { role: "user" | "assistant"; parts: Part[] }[];
  readonly callIds: Set<string>;
  /** By the caller's id. */
  readonly byId: Map<string, Queue>;
  readonly byTool: Map<string, Queue>;
  readonly inOrder: Queue;
  /** True at the first part of a model content that follows another one. */
  continues: boolean;
  readonly detail: string | null;
  readonly unsupportedFields: Set<string>;
}

const UNSPECIFIED_RESOLUTION = "MEDIA_RESOLUTION_UNSPECIFIED";

const DETAILS: Readonly<Record<string, string>> = {
  MEDIA_RESOLUTION_LOW: "low",
  MEDIA_RESOLUTION_HIGH: "high",
  MEDIA_RESOLUTION_ULTRA_HIGH: "original",
};

/** The resolution for an image, from a `mediaResolution`; null when it has no neutral form. */
export function detailOf(resolution: unknown): string | null {
  return typeof resolution === "string" ? ownValue(DETAILS, resolution) ?? null : null;
}

/**
 * Reads checked `contents` as turns. Adjacent contents of one role form one turn. A call belongs to the assistant and a
 * response to the user, whatever role their content has. Responses come first in their turn. Calls without an id get
 * one; responses are matched to calls by id, or else by name in order, or else by position.
 *
 * @param detail The resolution for images that set none.
 * @param unsupportedFields Receives the names of fields that have no neutral form.
 */
export function readTurns(
  contents: readonly JsonObject[],
  detail: string | null,
  unsupportedFields: Set<string>,
): Turn[] {
  const walk: Walk = {
    turns: [],
    callIds: new Set(),
    byId: new Map(),
    byTool: new Map(),
    inOrder: { calls: [], next: 0 },
    continues: false,
    detail,
    unsupportedFields,
  };
  contents.forEach((content, at) => {
    const role = content.role === "model" ? "assistant" : "user";
    walk.continues = role === "assistant" && at > 0 && contents[at - 1]!.role === "model";
    objectsIn(content.parts).forEach((part, index) => readPart(walk, part, role, `${at}.${index}`));
  });
  return walk.turns.map(({ role, parts }) => ({ role, parts: role === "user" ? resultsFirst(parts) : parts }));
}

function readPart(walk: Walk, part: JsonObject, role: "user" | "assistant", at: string): void {
  reportResolution(walk, part, readMedia(part)?.kind === "image");
  if (typeof part.text === "string") return readText(walk, part, part.text, role);
  const call = field(part, "functionCall");
  if (isObject(call)) return readCall(walk, part, call, at);
  const response = field(part, "functionResponse");
  if (isObject(response)) return readResponse(walk, response, at);
  if (part.thought === true) return;
  const media = readMedia(part);
  if (media === null) return;
  if (media.kind !== "file") reportDisplayName(walk, part);
  if (readPartSignature(part) !== null) {
    walk.unsupportedFields.add(`contents.parts.${spellingOf(part, "thoughtSignature")}`);
  }
  push(walk, role, media.kind === "image" ? withDetail(walk, part, media) : media);
}

function readText(walk: Walk, part: JsonObject, text: string, role: "user" | "assistant"): void {
  const signature = readPartSignature(part);
  if (part.thought === true) {
    const reasoning = reasoningOf(text, signature);
    if (text === "" && signature !== null && reasoning.redacted !== true && signLast(walk, "reasoning", signature)) {
      return;
    }
    if (text !== "" || signature !== null) pushContinued(walk, "assistant", reasoning);
    return;
  }
  if (text !== "") {
    const plain: TextPart = { kind: "text", text };
    pushContinued(walk, role, signature === null ? plain : { ...plain, signature });
    return;
  }
  if (signature !== null) signLast(walk, "text", signature);
}

/** Attaches a signature to the last part: the vendor streams it in an empty part, which clients send back. */
function signLast(walk: Walk, kind: "text" | "reasoning", signature: ReasoningSignature): boolean {
  const turn = walk.turns.at(-1);
  const last = turn?.parts.at(-1);
  if (turn?.role !== "assistant" || last?.kind !== kind || last.signature !== undefined) return false;
  turn.parts[turn.parts.length - 1] = { ...last, signature };
  walk.continues = false;
  return true;
}

function readCall(walk: Walk, part: JsonObject, call: JsonObject, at: string): void {
  const tool = textOrNull(call.name) ?? "";
  const wireId = textOrNull(call.id);
  const callId = wireId === null || walk.callIds.has(wireId) ? newCallId(`${at}.${tool}`) : wireId;
  const signature = readPartSignature(part);
  const openCall: OpenCall = { callId, tool, answered: false };
  walk.callIds.add(callId);
  if (wireId !== null) queueFor(walk.byId, wireId).calls.push(openCall);
  queueFor(walk.byTool, tool).calls.push(openCall);
  walk.inOrder.calls.push(openCall);
  const read: Part = { kind: "tool_call", callId, tool, input: inputOf(call.args) };
  push(walk, "assistant", signature === null ? read : { ...read, signature });
}

function readResponse(walk: Walk, response: JsonObject, at: string): void {
  const name = textOrNull(response.name);
  const wireId = textOrNull(response.id);
  const call = (wireId === null ? undefined : firstOpen(walk.byId.get(wireId))) ??
    (name === null ? undefined : firstOpen(walk.byTool.get(name))) ?? firstOpen(walk.inOrder);
  if (call) call.answered = true;
  const { parts, isError, leftOut } = readResult(response);
  if (leftOut) walk.unsupportedFields.add("contents.parts.functionResponse.parts");
  push(walk, "user", {
    kind: "tool_result",
    callId: call?.callId ?? wireId ?? newCallId(at),
    tool: call?.tool ?? null,
    parts,
    isError,
  });
}

function queueFor(queues: Map<string, Queue>, key: string): Queue {
  const queue = queues.get(key) ?? { calls: [], next: 0 };
  queues.set(key, queue);
  return queue;
}

function firstOpen(queue: Queue | undefined): OpenCall | undefined {
  if (!queue) return undefined;
  while (queue.calls[queue.next]?.answered) queue.next++;
  return queue.calls[queue.next];
}

/** Reports names of media other than documents, which have no name in the neutral form. */
function reportDisplayName(walk: Walk, part: JsonObject): void {
  for (const payload of ["inlineData", "fileData"] as const) {
    const data = field(part, payload);
    if (!isObject(data) || field(data, "displayName") === undefined) continue;
    walk.unsupportedFields.add(`contents.parts.${spellingOf(part, payload)}.${spellingOf(data, "displayName")}`);
  }
}

/** Reports a resolution that does not apply to an image or has no neutral form. */
function reportResolution(walk: Walk, part: JsonObject, isImage: boolean): void {
  const own = field(part, "mediaResolution");
  const level = isObject(own) ? own.level : own;
  if (own === undefined || (isImage && (detailOf(level) !== null || level === UNSPECIFIED_RESOLUTION))) return;
  walk.unsupportedFields.add(`contents.parts.${spellingOf(part, "mediaResolution")}`);
}

function withDetail(walk: Walk, part: JsonObject, image: ImagePart): ImagePart {
  const own = field(part, "mediaResolution");
  const detail = detailOf(isObject(own) ? own.level : own) ?? walk.detail;
  return detail === null ? image : { ...image, detail };
}

/**
 * Adds a text or reasoning part, or appends it to the last one. Chat clients store every chunk of a stream as a
 * content: its first text or reasoning continues the previous part, up to the chunk with the signature. Other clients
 * collect the parts of all chunks in one content. There, adjacent reasoning up to a signature is one part, because the
 * signature covers all of it. Texts of the model are joined while they are unsigned; the vendor signs only the last.
 */
function pushContinued(walk: Walk, role: "user" | "assistant", part: TextPart | ReasoningPart): void {
  const turn = walk.turns.at(-1);
  const last = turn?.parts.at(-1);
  const continues = walk.continues ||
    (part.kind === "reasoning" ? part.redacted !== true : role === "assistant" && part.signature === undefined);
  if (continues && turn?.role === role && last?.kind === part.kind && last.signature === undefined) {
    walk.continues = false;
    turn.parts[turn.parts.length - 1] = { ...part, text: last.text + part.text };
  } else push(walk, role, part);
}

function push(walk: Walk, role: "user" | "assistant", part: Part): void {
  walk.continues = false;
  const turn = walk.turns.at(-1);
  if (turn?.role === role) turn.parts.push(part);
  else walk.turns.push({ role, parts: [part] });
}

function resultsFirst(parts: readonly Part[]): Part[] {
  return [
    ...parts.filter((part) => part.kind === "tool_result"),
    ...parts.filter((part) => part.kind !== "tool_result"),
  ];
}
