import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { objectsIn } from "../shared/fields.ts";

/**
 * A call whose arguments arrive in deltas (`streamFunctionCallArguments`). It starts with a name and `willContinue`,
 * continues with `partialArgs` (each a path and a part of a value), and is complete at the first chunk without
 * `willContinue`, which may be an empty `functionCall`.
 */
export interface PartialCall {
  readonly id: unknown;
  readonly name: string;
  readonly signature: ReasoningSignature | null;
  /** Has no prototype at any level, so that no path reaches one. */
  readonly args: JsonObject;
}

/** Starts a call with the arguments of its first chunk, if any. */
export function openCall(functionCall: JsonObject, name: string, signature: ReasoningSignature | null): PartialCall {
  const args: JsonObject = Object.assign(Object.create(null), isObject(functionCall.args) ? functionCall.args : {});
  const call = { id: functionCall.id, name, signature, args };
  addPieces(call, functionCall);
  return call;
}

/** Adds a chunk's values: strings are appended, other values are set. */
export function addPieces(call: PartialCall, functionCall: JsonObject): void {
  for (const piece of objectsIn(functionCall.partialArgs)) {
    const steps = typeof piece.jsonPath === "string" ? stepsOf(piece.jsonPath) : [];
    const last = steps.pop();
    if (last === undefined) continue;
    const holder = holderAt(call.args, steps, last);
    if (holder !== null) setValue(holder, last, valueIn(piece));
  }
}

/** `$.items[0]['a name']` as `items`, 0, `a name`. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const match of path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/g)) {
    steps.push(match[2] === undefined ? match[1] ?? match[3] ?? match[4] ?? "" : Number(match[2]));
  }
  return steps;
}

/** The object or list with the last step, created if needed; null where the path does not fit the existing values. */
function holderAt(args: JsonObject, steps: readonly (string | number)[], last: string | number) {
  let holder: JsonObject | unknown[] = args;
  for (const [index, step] of steps.entries()) {
    const next = index + 1 < steps.length ? steps[index + 1]! : last;
    const known = memberOf(holder, step);
    if (known === undefined) {
      const made: JsonObject | unknown[] = typeof next === "number" ? [] : Object.create(null);
      if (!setValue(holder, step, made)) return null;
      holder = made;
    } else if (Array.isArray(known) || isObject(known)) {
      holder = known;
    } else return null;
  }
  return holder;
}

function memberOf(holder: JsonObject | unknown[], step: string | number): unknown {
  return Array.isArray(holder) ? (typeof step === "number" ? holder[step] : undefined) : holder[String(step)];
}

/** Sets a value. A list grows by at most one, so that a large index cannot allocate memory. */
function setValue(holder: JsonObject | unknown[], step: string | number, value: unknown): boolean {
  const known = memberOf(holder, step);
  const joined = typeof known === "string" && typeof value === "string" ? known + value : value;
  if (!Array.isArray(holder)) holder[String(step)] = joined;
  else if (typeof step === "number" && step <= holder.length) holder[step] = joined;
  else return false;
  return true;
}

function valueIn(piece: JsonObject): unknown {
  return piece.stringValue ?? piece.numberValue ?? piece.boolValue ?? null;
}
