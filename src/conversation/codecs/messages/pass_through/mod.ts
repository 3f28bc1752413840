import { spliceJson } from "../../../../lib/json.ts";
import type { PassThrough } from "../../../pass_through.ts";
import { issuedIds } from "./issued_ids.ts";
import { watcher } from "./watcher.ts";

/** Messages as they pass. */
export const passThrough: PassThrough = {
  prepare({ bytes, scan, model, outputLimit }) {
    const set = outputLimit === null ? { model } : { model, max_tokens: outputLimit };
    return spliceJson(bytes, scan, { set, remove: ["extra_body"] });
  },
  watch: () => watcher(),
  issuedIds,
};
