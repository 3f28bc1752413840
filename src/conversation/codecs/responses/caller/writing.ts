import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ReplyContext } from "../../../contract/caller_format.ts";
import type { PartOpening } from "../../../neutral/events.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import type { OwnedSignature } from "../shared/carried_signature.ts";
import type { Emit, Item } from "./item_frames.ts";
import { responseIdOf } from "./output_items.ts";
import { settingsOf } from "./response_object.ts";

/** A part that is being written. */
export interface OpenPart {
  /** The opening event. */
  readonly opening: PartOpening;
  /**
   * Null for a call before its first delta or its end, because its signature may have to be written first. Null also
   * for reasoning after other items, until it has text.
   */
  item: Item | null;
  /** The signature of a text, written in an item after it, or of reasoning without an item. */
  signature: ReasoningSignature | null;
}

/** The state of writing a response stream. */
export interface Writing {
  /** What the reply repeats of its request. */
  readonly context: ReplyContext;
  /** The members of the response object that repeat the request, as JSON text: they occur in three frames. */
  readonly settings: string;
  /** Open parts, by index. */
  readonly parts: Map<number, OpenPart>;
  /** Closed items by `output_index`; null while an item is open. */
  readonly output: (JsonObject | null)[];
  /** Pending signatures: they are written before the next item, because a reply must not end with one. */
  readonly pendingSignatures: OwnedSignature[];
  /** Calls with arguments that are not valid JSON: only the finish shows whether they were cut off. */
  readonly suspended: Item[];
  /** Used call ids, for `callIdFor`. */
  readonly callIds: Map<string, number>;
  /** Makes a frame with the next sequence number. */
  readonly emit: Emit;
  /** The id of the response. */
  id: string;
  /** Unix seconds. */
  createdAt: number;
  /** The next sequence number. */
  sequence: number;
  /** True after the caller has received the first event. */
  isBegun: boolean;
  /** True after a call was opened. */
  hasCall: boolean;
  /** True after a refusal was opened. */
  hasRefusal: boolean;
  /** True after the last event. */
  ended: boolean;
}

/** The state before the first event. */
export function newWriting(context: ReplyContext): Writing {
  const writing: Writing = {
    context,
    settings: JSON.stringify(settingsOf(context)).slice(1, -1),
    parts: new Map(),
    output: [],
    pendingSignatures: [],
    suspended: [],
    callIds: new Map(),
    emit: (type, fields) => ({
      event: type,
      data: JSON.stringify({ type, ...fields, sequence_number: writing.sequence++ }),
    }),
    id: context.startedStream?.id ?? responseIdOf("", context.requestId),
    createdAt: context.startedStream?.createdAt ?? context.createdAt,
    sequence: context.startedStream?.sequence ?? 0,
    isBegun: (context.startedStream ?? null) !== null,
    hasCall: false,
    hasRefusal: false,
    ended: false,
  };
  return writing;
}
