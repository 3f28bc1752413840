import type { JsonObject } from "../../../../lib/json_object.ts";
import type { ImagePart, Part, ReasoningPart, TextPart, Turn } from "../../../conversation.ts";
import { inputOf } from "../../../call_input.ts";
import { madeCallId } from "../shared/calls.ts";
import type { Seal } from "../../../seal.ts";
import { isObject, textOrNull } from "../../../wire_value.ts";
import { field, objectsIn, spellingOf } from "../shared/fields.ts";
import { readMedia } from "../shared/parts.ts";
import { readPartSeal, reasoningOf } from "../shared/seals.ts";
import { readAnswer } from "../shared/tool_results.ts";

/** A call met on the way, waiting for its answer. */
interface WaitingCall {
  readonly callId: string;
  readonly tool: string;
  answered: boolean;
}

/** Calls in order, with a finger on the first that may still wait: a long history is walked once. */
interface Queue {
  readonly calls: WaitingCall[];
  next: number;
}

/** What the reading of the turns carries from part to part. */
interface Walk {
  readonly turns: { role: "user" | "assistant"; parts: Part[] }[];
  readonly callIds: Set<string>;
  /** By the id as the caller sent it, by tool, and all. */
  readonly byId: Map<string, Queue>;
  readonly byTool: Map<string, Queue>;
  readonly inOrder: Queue;
  /** True at the first part of an assistant's content that follows another one. */
  continues: boolean;
  readonly detail: string | null;
  readonly beyond: Set<string>;
}

const UNSPECIFIED_RESOLUTION = "MEDIA_RESOLUTION_UNSPECIFIED";

const DETAILS: Readonly<Record<string, string>> = {
  MEDIA_RESOLUTION_LOW: "low",
  MEDIA_RESOLUTION_HIGH: "high",
  MEDIA_RESOLUTION_ULTRA_HIGH: "original",
};

/** How closely to look, from a `mediaResolution`; null when it says nothing that the neutral form has a word for. */
export function detailOf(resolution: unknown): string | null {
  return typeof resolution === "string" && Object.hasOwn(DETAILS, resolution) ? DETAILS[resolution] ?? null : null;
}

/**
 * The turns in checked `contents`. Neighbours of one role become one turn; a call belongs to the assistant and an
 * answer to the user, whatever role their content has; answers stand first in their turn. Calls without an id get one,
 * and answers are matched to them by id, else by name in order, else by position.
 *
 * @param detail How closely to look at pictures that do not say it themselves.
 * @param beyond Receives the names of what could not be read.
 */
export function readTurns(contents: readonly JsonObject[], detail: string | null, beyond: Set<string>): Turn[] {
  const walk: Walk = {
    turns: [],
    callIds: new Set(),
    byId: new Map(),
    byTool: new Map(),
    inOrder: { calls: [], next: 0 },
    continues: false,
    detail,
    beyond,
  };
  contents.forEach((content, at) => {
    const role = content.role === "model" ? "assistant" : "user";
    walk.continues = role === "assistant" && at > 0 && contents[at - 1]!.role === "model";
    objectsIn(content.parts).forEach((part, index) => readPart(walk, part, role, `${at}.${index}`));
  });
  return walk.turns.map(({ role, parts }) => ({ role, parts: role === "user" ? resultsFirst(parts) : parts }));
}

function readPart(walk: Walk, part: JsonObject, role: "user" | "assistant", at: string): void {
  nameUnreadResolution(walk, part, readMedia(part)?.kind === "image");
  if (typeof part.text === "string") return readText(walk, part, part.text, role);
  const call = field(part, "functionCall");
  if (isObject(call)) return readCall(walk, part, call, at);
  const response = field(part, "functionResponse");
  if (isObject(response)) return readResponse(walk, response, at);
  if (part.thought === true) return;
  const media = readMedia(part);
  if (media === null) return;
  if (media.kind !== "file") nameUnreadName(walk, part);
  if (readPartSeal(part) !== null) walk.beyond.add(`contents.parts.${spellingOf(part, "thoughtSignature")}`);
  push(walk, role, media.kind === "image" ? withDetail(walk, part, media) : media);
}

function readText(walk: Walk, part: JsonObject, text: string, role: "user" | "assistant"): void {
  const seal = readPartSeal(part);
  if (part.thought === true) {
    const thought = reasoningOf(text, seal);
    if (text === "" && seal !== null && thought.redacted !== true && sealLast(walk, "reasoning", seal)) return;
    if (text !== "" || seal !== null) pushSpoken(walk, "assistant", thought);
    return;
  }
  if (text !== "") {
    const plain: TextPart = { kind: "text", text };
    pushSpoken(walk, role, seal === null ? plain : { ...plain, seal });
    return;
  }
  if (seal !== null) sealLast(walk, "text", seal);
}

/** The vendor's streams put the proof of a text or thought into an empty part after it; clients send that part back. */
function sealLast(walk: Walk, kind: "text" | "reasoning", seal: Seal): boolean {
  const turn = walk.turns.at(-1);
  const last = turn?.parts.at(-1);
  if (turn?.role !== "assistant" || last?.kind !== kind || last.seal !== undefined) return false;
  turn.parts[turn.parts.length - 1] = { ...last, seal };
  walk.continues = false;
  return true;
}

function readCall(walk: Walk, part: JsonObject, call: JsonObject, at: string): void {
  const tool = textOrNull(call.name) ?? "";
  const wireId = textOrNull(call.id);
  const callId = wireId === null || walk.callIds.has(wireId) ? madeCallId(`${at}.${tool}`) : wireId;
  const seal = readPartSeal(part);
  const waiting: WaitingCall = { callId, tool, answered: false };
  walk.callIds.add(callId);
  if (wireId !== null) queueFor(walk.byId, wireId).calls.push(waiting);
  queueFor(walk.byTool, tool).calls.push(waiting);
  walk.inOrder.calls.push(waiting);
  const read: Part = { kind: "tool_call", callId, tool, input: inputOf(call.args) };
  push(walk, "assistant", seal === null ? read : { ...read, seal });
}

function readResponse(walk: Walk, response: JsonObject, at: string): void {
  const name = textOrNull(response.name);
  const wireId = textOrNull(response.id);
  const call = (wireId === null ? undefined : firstWaiting(walk.byId.get(wireId))) ??
    (name === null ? undefined : firstWaiting(walk.byTool.get(name))) ?? firstWaiting(walk.inOrder);
  if (call) call.answered = true;
  const { parts, isError, leftOut } = readAnswer(response);
  if (leftOut) walk.beyond.add("contents.parts.functionResponse.parts");
  push(walk, "user", {
    kind: "tool_result",
    callId: call?.callId ?? wireId ?? madeCallId(at),
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

function firstWaiting(queue: Queue | undefined): WaitingCall | undefined {
  if (!queue) return undefined;
  while (queue.calls[queue.next]?.answered) queue.next++;
  return queue.calls[queue.next];
}

/** Only documents have a name in the neutral form. */
function nameUnreadName(walk: Walk, part: JsonObject): void {
  for (const payload of ["inlineData", "fileData"] as const) {
    const data = field(part, payload);
    if (!isObject(data) || field(data, "displayName") === undefined) continue;
    walk.beyond.add(`contents.parts.${spellingOf(part, payload)}.${spellingOf(data, "displayName")}`);
  }
}

/** A resolution that no picture takes up, or that the neutral form has no word for. */
function nameUnreadResolution(walk: Walk, part: JsonObject, isImage: boolean): void {
  const own = field(part, "mediaResolution");
  const level = isObject(own) ? own.level : own;
  if (own === undefined || (isImage && (detailOf(level) !== null || level === UNSPECIFIED_RESOLUTION))) return;
  walk.beyond.add(`contents.parts.${spellingOf(part, "mediaResolution")}`);
}

function withDetail(walk: Walk, part: JsonObject, image: ImagePart): ImagePart {
  const own = field(part, "mediaResolution");
  const detail = detailOf(isObject(own) ? own.level : own) ?? walk.detail;
  return detail === null ? image : { ...image, detail };
}

/**
 * Chat clients keep every chunk of a stream as a content of its own: text or thought at the beginning of such a content
 * goes on in the part before it, up to the chunk with the proof. Other clients gather the parts of all chunks in one
 * content. A proof covers the whole thought, so neighbouring thoughts up to the proof are one there, too. Texts are
 * not, as this form's vendor signs the last of them alone.
 */
function pushSpoken(walk: Walk, role: "user" | "assistant", part: TextPart | ReasoningPart): void {
  const turn = walk.turns.at(-1);
  const last = turn?.parts.at(-1);
  const continues = walk.continues || (part.kind === "reasoning" && part.redacted !== true);
  if (continues && turn && last?.kind === part.kind && last.seal === undefined) {
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
