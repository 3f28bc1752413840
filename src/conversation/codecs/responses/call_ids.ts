import { withHash } from "./tools.ts";

const LONGEST_CALL_ID = 64;

/**
 * The ids of calls as a request names them. Ids stay as they are where they can; long ones are cut, with a hash that
 * keeps them apart, and a second call of one id (weak models repeat them) gets an id of its own.
 * Source: Responses API reference, "call_id", at most 64 characters.
 */
export interface CallIds {
  /** The id of a new call. */
  open(callId: string): string;
  /** The id of the oldest call of that name that has no result yet; null when there is none. */
  answer(callId: string): string | null;
  /** Calls that have no result yet, oldest first; they count as answered from now on. */
  takeOpen(): string[];
}

/** No call yet. One per request. */
export function newCallIds(): CallIds {
  const used = new Set<string>();
  let open: { readonly callId: string; readonly wireId: string }[] = [];
  return {
    open(callId) {
      let wireId = cut(callId);
      for (let n = 2; used.has(wireId); n++) wireId = cut(`${callId}_${n}`);
      used.add(wireId);
      open.push({ callId, wireId });
      return wireId;
    },
    answer(callId) {
      const at = open.findIndex((call) => call.callId === callId);
      return at < 0 ? null : open.splice(at, 1)[0].wireId;
    },
    takeOpen() {
      const ids = open.map(({ wireId }) => wireId);
      open = [];
      return ids;
    },
  };
}

function cut(callId: string): string {
  if (callId === "") return "call";
  return callId.length <= LONGEST_CALL_ID ? callId : withHash(callId, callId, LONGEST_CALL_ID);
}
