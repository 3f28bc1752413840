import type { ReplyContext } from "../conversation/caller_format.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { OpenPrefix } from "../caches/prefix.ts";
import type { Emulation } from "./emulation.ts";
import type { ReplyNames } from "./own_reply.ts";

/** A request in the vendor's form, and what its reply needs on the way back. */
export interface Translation {
  readonly body: JsonObject;
  /** What stands before the caller's turns and is put into the body while it is sent; none when left out. */
  readonly prefix?: OpenPrefix | null;
  /** Names, in the caller's spelling, of what the vendor could not be told. */
  readonly losses: readonly string[];
  /** What the gateway does in the vendor's place. */
  readonly emulation: Emulation;
  readonly names: ReplyNames;
  readonly context: ReplyContext;
}
