import type { RequestPage, RequestQuery } from "./request_log.ts";
import type { StoredRow } from "./row.ts";

/** What a thread of the log is asked. */
export type LogQuestion =
  | { readonly type: "list"; readonly query: RequestQuery }
  | { readonly type: "get"; readonly requestId: string }
  /** The bodies of a request. */
  | { readonly type: "bodies"; readonly requestId: string }
  | { readonly type: "delete-account"; readonly account: string }
  /** Removes what retention no longer keeps. */
  | { readonly type: "trim" }
  | { readonly type: "close" };

/** How captured bodies are kept. */
export interface BodySettings {
  /** The operator's secret, from which the key is derived. */
  readonly secret: string;
  /** How long bodies are kept. */
  readonly retentionMs: number;
  /** The most bytes of all bodies, as encrypted. */
  readonly maxBytes: number;
}

/** The bodies of a request, to be kept. */
export interface BodyMessage {
  readonly type: "bodies";
  readonly requestId: string;
  readonly accountId: string | null;
  /** Unix milliseconds. */
  readonly at: number;
  readonly request: ArrayBuffer | null;
  readonly response: ArrayBuffer | null;
  /** Whether a body was longer than the limit. */
  readonly isCut: boolean;
}

/** A message to the thread. */
export type ToLogThread =
  /** Rows, as {@linkcode joinRows} writes them. */
  | { readonly type: "append"; readonly rows: number; readonly text: string }
  | BodyMessage
  | { readonly type: "question"; readonly id: number; readonly question: LogQuestion };

/** A message from the thread. */
export type FromLogThread =
  /** Bodies are written, or they are lost for this reason. */
  | { readonly type: "kept"; readonly bytes: number; readonly failure: string | null }
  /** Rows are written, or they are lost for this reason. */
  | { readonly type: "appended"; readonly rows: number; readonly failure: string | null }
  | { readonly type: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly type: "failed"; readonly id: number; readonly reason: string };

/** The answer to `list`, with rows as stored. */
export interface ListAnswer extends Pick<RequestPage, "next"> {
  readonly rows: readonly StoredRow[];
}

/** What a log keeps. */
export interface LogLimits {
  /** How long rows are kept. */
  readonly retentionMs: number;
  /** The most bytes of all rows and their indexes. */
  readonly maxBytes: number;
}

/** What the thread of a log in a file is started with. */
export interface LogThreadData extends LogLimits {
  /** The file, or `:memory:`. */
  readonly path: string;
  /** The log takes no rows while the disk has fewer free bytes. */
  readonly minFreeBytes: number;
  /** Captured bodies and their file; null if none are kept. */
  readonly bodies: BodySettings & { readonly path: string } | null;
}

/** What the thread of a log in a database is started with. */
export interface DatabaseLogData extends LogLimits {
  /** The address of the database, as in the setting `store`. */
  readonly url: string;
  /** Captured bodies; null if none are kept. */
  readonly bodies: BodySettings | null;
}
