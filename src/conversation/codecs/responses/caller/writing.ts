import type { JsonObject } from "../../../../lib/json_object.ts";
import type { ReplyContext } from "../../../caller_format.ts";
import type { PartOpening } from "../../../events.ts";
import type { Seal } from "../../../seal.ts";
import type { CarriedSeal } from "../shared/carried_seal.ts";
import type { Emit, Item } from "./item_frames.ts";
import { responseIdOf } from "./output_items.ts";
import { settingsOf } from "./response_object.ts";

/** A part that is being written. */
export interface OpenPart {
  /** As it was opened. */
  readonly opening: PartOpening;
  /**
   * Null for a call before its first delta or its end: a proof that comes first is an item before it. Null also for
   * reasoning behind other items, until it has words.
   */
  item: Item | null;
  /** The proof of a text, which is an item after it, or of reasoning without an item. */
  seal: Seal | null;
}

/** Where the writing of a response stream stands. */
export interface Writing {
  /** What the reply repeats of its request. */
  readonly context: ReplyContext;
  /** The settings half of the response object as JSON members: it stands in three frames. */
  readonly settings: string;
  /** Those that are open, by index. */
  readonly parts: Map<number, OpenPart>;
  /** Closed items by `output_index`; null while one is open. */
  readonly output: (JsonObject | null)[];
  /** Items that wait for an item behind them, as no reply ends with one. */
  readonly proofs: CarriedSeal[];
  /** Calls whose arguments are no JSON: whether they ended or were cut is known at the finish only. */
  readonly suspended: Item[];
  /** As `callIdFor` uses them. */
  readonly callIds: Map<string, number>;
  /** Makes a frame with the next sequence number. */
  readonly emit: Emit;
  /** Of the response. */
  id: string;
  /** Unix seconds. */
  createdAt: number;
  /** The next sequence number. */
  sequence: number;
  /** True once a call was opened. */
  hasCall: boolean;
  /** True once a refusal was opened. */
  hasRefusal: boolean;
  /** True after the last event. */
  ended: boolean;
}

/** The writing before the first event. */
export function newWriting(context: ReplyContext): Writing {
  const writing: Writing = {
    context,
    settings: JSON.stringify(settingsOf(context)).slice(1, -1),
    parts: new Map(),
    output: [],
    proofs: [],
    suspended: [],
    callIds: new Map(),
    emit: (type, fields) => ({
      event: type,
      data: JSON.stringify({ type, ...fields, sequence_number: writing.sequence++ }),
    }),
    id: context.begun?.id ?? responseIdOf("", context.requestId),
    createdAt: context.begun?.createdAt ?? context.createdAt,
    sequence: context.begun?.sequence ?? 0,
    hasCall: false,
    hasRefusal: false,
    ended: false,
  };
  return writing;
}
