import type { LimitedCaller } from "../../money/limits/limited_caller.ts";

const ids = new WeakMap<object, number>();
let nextId = 1;

/** A number for the limits of callers that were read together: other limits have another one. 0 for no limits. */
export function limitsIdOf(limits: LimitedCaller["limits"]): number {
  if (limits === null) return 0;
  const known = ids.get(limits);
  if (known !== undefined) return known;
  const id = nextId++;
  ids.set(limits, id);
  return id;
}
