import type { JsonObject } from "../../../../lib/json_object.ts";
import type { ReplyEvent } from "../../../events.ts";
import type { Seal } from "../../../seal.ts";
import { objectOf, textOf } from "../../../wire_value.ts";
import { callSealOf } from "../shared/read_messages.ts";
import { madeCallId } from "./read_reply.ts";

/** A call whose pieces are still coming. */
interface OpenCall {
  /** The part's index; null until its name is known, without which a part cannot start. */
  index: number | null;
  /** The vendor's id, empty while it gave none. */
  id: string;
  readonly custom: boolean;
  /** Arguments that came before the name. */
  held: string;
  sealed: boolean;
}

/** The calls of one stream. */
export interface Calls {
  /** By the vendor's index; a vendor that repeats an index for another call gets a new entry under it. */
  readonly byIndex: Map<unknown, OpenCall>;
  readonly inOrder: OpenCall[];
  readonly ids: Set<string>;
  /** From what ids are made where the vendor gave none. */
  replyId: string;
}

/** No calls yet. */
export function newCalls(): Calls {
  return { byIndex: new Map(), inOrder: [], ids: new Set(), replyId: "" };
}

/**
 * One entry of `delta.tool_calls`. Whole calls, pieces, and pieces without type, index or id are all met in the wild;
 * a name or an id that comes again with every piece is not a new call.
 *
 * @param nextIndex Closes what is open and gives the index of a new part.
 */
export function readCallDelta(calls: Calls, fields: JsonObject, nextIndex: () => number): ReplyEvent[] {
  const custom = fields.type === "custom" || objectOf(fields.custom) !== null;
  const called = objectOf(custom ? fields.custom : fields.function) ?? {};
  const call = callFor(calls, fields, textOf(called.name), custom);
  const events: ReplyEvent[] = [];
  if (call.id === "") call.id = textOf(fields.id);
  if (call.index === null && textOf(called.name) !== "") {
    call.index = nextIndex();
    events.push({ type: "part-start", index: call.index, part: openingOf(calls, call, textOf(called.name)) });
  }
  events.push(...argumentsOf(call, custom ? called.input : called.arguments));
  const { seal } = callSealOf(fields);
  if (seal && call.index !== null) events.push(sealed(call, call.index, seal));
  return events;
}

/** The call that a piece belongs to. */
function callFor(calls: Calls, fields: JsonObject, name: string, custom: boolean): OpenCall {
  const id = textOf(fields.id);
  const key = fields.index ?? (id || null);
  const known = key === null ? (name === "" ? calls.inOrder.at(-1) : undefined) : calls.byIndex.get(key);
  // A whole second call under an index that was used: some vendors number each one 0.
  const other = known !== undefined && id !== "" && known.id !== "" && id !== known.id && name !== "";
  if (known && !other) return known;
  const call: OpenCall = { index: null, id: "", custom, held: "", sealed: false };
  calls.byIndex.set(key, call);
  calls.inOrder.push(call);
  return call;
}

function openingOf(calls: Calls, call: OpenCall, tool: string) {
  const place = calls.inOrder.indexOf(call);
  const callId = call.id !== "" && !calls.ids.has(call.id) ? call.id : madeCallId(calls.replyId, place);
  calls.ids.add(callId);
  return { kind: "tool_call" as const, callId, tool, ...(call.custom && { custom: true }) };
}

function argumentsOf(call: OpenCall, value: unknown): ReplyEvent[] {
  const text = call.held + (objectOf(value) ? JSON.stringify(value) : textOf(value));
  call.held = call.index === null ? text : "";
  return call.index === null || text === "" ? [] : [{ type: "part-delta", index: call.index, text }];
}

function sealed(call: OpenCall, index: number, seal: Seal): ReplyEvent {
  call.sealed = true;
  return { type: "part-seal", index, seal };
}

/** Puts the proof of a whole message on its first call without one; null if there is none. */
export function sealFirstCall(calls: Calls, seal: Seal): ReplyEvent | null {
  const call = calls.inOrder.find((one) => one.index !== null && !one.sealed);
  return call ? sealed(call, call.index!, seal) : null;
}

/** The ends of all calls, in order. One that never got a name was never begun. */
export function callsClosed(calls: Calls): ReplyEvent[] {
  return calls.inOrder.flatMap(({ index }) => index === null ? [] : [{ type: "part-end" as const, index }]);
}
