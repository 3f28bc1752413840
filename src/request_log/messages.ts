import type { RequestPage, RequestQuery } from "./request_log.ts";
import type { RowValue, StoredRow } from "./row.ts";

/** What a thread of the log is asked. */
export type LogQuestion =
  | { readonly type: "list"; readonly query: RequestQuery }
  | { readonly type: "get"; readonly requestId: string }
  | { readonly type: "delete-account"; readonly account: string }
  /** Removes what retention no longer keeps. */
  | { readonly type: "trim" }
  | { readonly type: "close" };

/** A message to the thread. */
export type ToLogThread =
  /** The values of some rows, one row after the other. */
  | { readonly type: "append"; readonly values: readonly RowValue[] }
  | { readonly type: "question"; readonly id: number; readonly question: LogQuestion };

/** A message from the thread. */
export type FromLogThread =
  /** Rows are written, or they are lost for this reason. */
  | { readonly type: "appended"; readonly rows: number; readonly failure: string | null }
  | { readonly type: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly type: "failed"; readonly id: number; readonly reason: string };

/** The answer to `list`, with rows as stored. */
export interface ListAnswer extends Pick<RequestPage, "next"> {
  readonly rows: readonly StoredRow[];
}

/** What the thread is started with. */
export interface LogThreadData {
  /** The file, or `:memory:`. */
  readonly path: string;
  /** How long rows are kept. */
  readonly retentionMs: number;
  /** The most bytes of all rows and their indexes. */
  readonly maxBytes: number;
  /** The log takes no rows while the disk has fewer free bytes. */
  readonly minFreeBytes: number;
}
