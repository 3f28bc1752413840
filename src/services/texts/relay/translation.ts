import type { ReplyContext } from "../../../conversation/contract/caller_format.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { OpenPrefix } from "../../caches/prefix.ts";
import type { Emulation } from "./emulation.ts";
import type { PlannedCaching } from "../prompt_caching/prompt_caching.ts";
import type { ReplyNames } from "./caller_reply.ts";

/** A request in the vendor's format, and the data for translating its reply. */
export interface Translation {
  readonly body: JsonObject;
  /** The caller's header fields that are sent with it. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The content before the caller's messages, which is added to the body while it is sent. Absent if there is none.
   */
  readonly prefix?: OpenPrefix | null;
  /** Where the gateway marks prefixes for the vendor's cache, and whether it sends a key of its own. */
  readonly caching: Pick<PlannedCaching, "marks" | "hasKey">;
  /** The fields that the vendor does not support, in the caller's spelling. */
  readonly droppedFields: readonly string[];
  /** The features that the gateway emulates for the vendor. */
  readonly emulation: Emulation;
  readonly names: ReplyNames;
  readonly context: ReplyContext;
}
