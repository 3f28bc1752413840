import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import { jsonTextOf } from "../../../../platform/lib/json/exact_json.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ReplyEvent } from "../../../neutral/events.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { objectIn } from "../../../parts/request/call_input.ts";
import { objectOf, textOf } from "../../../neutral/wire_value.ts";
import { callSignatureOf } from "../shared/read_messages.ts";
import { newCallId } from "./read_reply.ts";

/** A call that is being streamed. */
interface OpenCall {
  /** The part's index; null until the call's name arrives, as a part cannot start without it. */
  index: number | null;
  /** The vendor's id; empty until it arrives. */
  id: string;
  readonly custom: boolean;
  /** Arguments received before the name. */
  held: string;
  /** The arguments so far, which tell where the next call begins. */
  given: string;
  signed: boolean;
  isEnded: boolean;
}

/** The calls of one stream. */
export interface Calls {
  /** By the vendor's index. A vendor that reuses an index for another call replaces the entry. */
  readonly byIndex: Map<unknown, OpenCall>;
  readonly inOrder: OpenCall[];
  readonly ids: Set<string>;
  /** The reply's id, from which call ids are made where the vendor sends none. */
  replyId: string;
}

/** State of a stream without calls. */
export function newCalls(): Calls {
  return { byIndex: new Map(), inOrder: [], ids: new Set(), replyId: "" };
}

/**
 * Reads one entry of `delta.tool_calls`. Vendors send whole calls, deltas, and deltas without type, index or id. A name
 * or id that is repeated in every delta does not start a new call.
 *
 * @param nextIndex Closes the open part and returns the index of a new one.
 */
export function readCallDelta(calls: Calls, fields: JsonObject, nextIndex: () => number): ReplyEvent[] {
  const custom = fields.type === "custom" || objectOf(fields.custom) !== null;
  const called = objectOf(custom ? fields.custom : fields.function) ?? {};
  const text = argumentsIn(custom ? called.input : called.arguments);
  const call = callFor(calls, fields, { name: textOf(called.name), custom, given: text });
  const events: ReplyEvent[] = [];
  const { signature } = callSignatureOf(fields);
  if (call.id === "") call.id = textOf(fields.id);
  if (call.index === null && textOf(called.name) !== "") {
    appendAll(events, closedBefore(call, calls));
    call.index = nextIndex();
    const isSigned = signature !== undefined;
    events.push({
      type: "part-start",
      index: call.index,
      part: { ...openingOf(calls, call, textOf(called.name)), ...isSigned && { isSigned } },
    });
  }
  // A signature comes first, as its call cannot begin without it in every format.
  if (signature && call.index !== null && !call.isEnded) events.push(signed(call, call.index, signature));
  call.given += text;
  appendAll(events, argumentsOf(call, text));
  return events;
}

/** The end of the call before a new one, if its arguments are complete. Vendors that interleave calls go on with it. */
function closedBefore(call: OpenCall, { inOrder }: Calls): ReplyEvent[] {
  const before = inOrder.at(inOrder.at(-1) === call ? -2 : -1);
  return before === undefined || before === call || before.isEnded || !isWhole(before) ? [] : closed(before);
}

function closed(call: OpenCall): ReplyEvent[] {
  if (call.index === null) return [];
  call.isEnded = true;
  return [{ type: "part-end", index: call.index }];
}

/** The call that a delta belongs to. */
function callFor(
  calls: Calls,
  fields: JsonObject,
  { name, custom, given }: { readonly name: string; readonly custom: boolean; readonly given: string },
): OpenCall {
  const id = textOf(fields.id);
  const key = fields.index ?? (id || null);
  const known = key === null ? (name === "" ? calls.inOrder.at(-1) : undefined) : calls.byIndex.get(key);
  // A second whole call with an index in use: some vendors give every call the index 0.
  const isOther = known !== undefined && name !== "" &&
    (id === "" ? given !== "" && isWhole(known) : known.id !== "" && id !== known.id);
  if (known && !isOther) return known;
  const call: OpenCall = { index: null, id: "", custom, held: "", given: "", signed: false, isEnded: false };
  calls.byIndex.set(key, call);
  calls.inOrder.push(call);
  return call;
}

function openingOf(calls: Calls, call: OpenCall, tool: string) {
  const position = calls.inOrder.indexOf(call);
  const callId = call.id !== "" && !calls.ids.has(call.id) ? call.id : newCallId(calls.replyId, position);
  calls.ids.add(callId);
  return { kind: "tool_call" as const, callId, tool, ...(call.custom && { custom: true }) };
}

/** Whether the arguments of a call are complete, so that a name with more of them begins another. */
function isWhole({ given, custom }: OpenCall): boolean {
  // Free text has no end of its own, so such a call stays open until the end.
  return !custom && given.trimEnd().endsWith("}") && objectIn(given) !== null;
}

/** Arguments as text: some vendors send an object. */
function argumentsIn(value: unknown): string {
  return objectOf(value) ? jsonTextOf(value) : textOf(value);
}

function argumentsOf(call: OpenCall, given: string): ReplyEvent[] {
  const text = call.held + given;
  call.held = call.index === null ? text : "";
  return call.index === null || text === "" || call.isEnded ? [] : [{ type: "part-delta", index: call.index, text }];
}

function signed(call: OpenCall, index: number, signature: ReasoningSignature): ReplyEvent {
  call.signed = true;
  return { type: "part-signature", index, signature };
}

/** Attaches the signature of a whole message to its first call without one; null if there is none. */
export function signFirstCall(calls: Calls, signature: ReasoningSignature): ReplyEvent | null {
  const call = calls.inOrder.find((one) => one.index !== null && !one.signed && !one.isEnded);
  return call ? signed(call, call.index!, signature) : null;
}

/** The ends of all calls, in order. A call whose name never arrived was not started. */
export function callsClosed(calls: Calls): ReplyEvent[] {
  return calls.inOrder.flatMap((call) => call.isEnded ? [] : closed(call));
}
