import type { Money, Rate } from "../../platform/lib/basics/money.ts";
import type {
  RecordedFacts,
  RecordedRefusal,
  RequestEnd,
  RequestObserver,
} from "../../platform/http/request/request_record.ts";
import type { LogReader } from "./caller_questions.ts";

/** A charged quantity. */
export interface ChargedPrice {
  /** The key of the price, such as `prompt`. */
  readonly price: string;
  readonly quantity: number;
  /** Of one unit. */
  readonly rate: Rate;
}

/** One request in the log. */
export interface LoggedRequest extends Omit<RecordedFacts, "firstByteAt" | "requestBytes" | "charged" | "unpriced"> {
  /** The position in the log. It rises in the order in which requests end. */
  readonly position: number;
  /** Assigned by the gateway. */
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** Until the response and its charge had ended. */
  readonly durationMs: number;
  /** Until the first byte of the response; null if there was none. */
  readonly firstByteMs: number | null;
  /** The HTTP method. */
  readonly method: string;
  /** The path without the query, possibly cut. */
  readonly path: string;
  /** The path of the route; null if the request had none. */
  readonly endpoint: string | null;
  /** The limit that refused the request; null if none did. */
  readonly refusal: RecordedRefusal | null;
  /** The HTTP status of the response. */
  readonly status: number;
  /** The code of the returned error; null for a success. */
  readonly code: string | null;
  /** The message of the returned error. */
  readonly message: string | null;
  /** What was charged. The sum of quantities times rates, rounded once, is `cost`. */
  readonly charged: readonly ChargedPrice[];
  /** See {@linkcode RecordedFacts}. */
  readonly end: RequestEnd | null;
  /** Bytes of the request's body; null if not counted. */
  readonly requestBytes: number | null;
  /** The client's IP address. */
  readonly remote: string;
}

/** The facts of a request that are numbers. The names are those of the API. */
export const RANGED_FACTS = [
  "duration_ms",
  "first_byte_ms",
  "cost",
  "input_tokens",
  "output_tokens",
  "images",
  "attempts",
  "request_bytes",
  "response_bytes",
] as const;

/** Rows as one text. */
export interface JoinedRows {
  /** As `joinRows` of row.ts writes them. */
  readonly text: string;
  readonly rows: number;
  /** Of texts that can be long. */
  readonly characters: number;
}

/** Rows of requests that another thread has written. */
export interface WrittenRows extends JoinedRows {
  /** The accounts of the requests. */
  readonly accounts: readonly string[];
}

/** One of {@linkcode RANGED_FACTS}. */
export type RangedFact = typeof RANGED_FACTS[number];

/** The values of a fact that a query selects. */
export interface FactRange {
  readonly fact: RangedFact;
  /** The lowest; a cost in units of money. Null for any. */
  readonly min: number | Money | null;
  /** The highest. */
  readonly max: number | Money | null;
}

/** Which requests to list. Every given condition must hold. */
export interface RequestQuery {
  /** The account's id. */
  readonly account?: string;
  /** The public id of the key. */
  readonly key?: string;
  /** The model as asked for or as served. */
  readonly model?: string;
  /** A provider that was tried. */
  readonly provider?: string;
  /** The lowest and the highest status. */
  readonly status?: readonly [number, number];
  /** The code of the returned error. */
  readonly code?: string;
  /** The path of the route, or the path itself if the request had no route. */
  readonly endpoint?: string;
  /** The kind of the call, such as `text` or `video`. */
  readonly kind?: string;
  /** How the response ended. */
  readonly end?: RequestEnd;
  /** A field of the request that the vendor did not get. */
  readonly dropped?: string;
  /** The client's IP address. */
  readonly remote?: string;
  /** The session to which the client says that the request belongs. */
  readonly session?: string;
  /** The HTTP method. */
  readonly method?: string;
  /** A protocol of `http/access_log.ts`. */
  readonly protocol?: string;
  /** The limit that refused the request. */
  readonly refusal?: Readonly<Partial<Pick<RecordedRefusal, "holder" | "limit">>>;
  /** An attempt that fulfils all of it. */
  readonly attempt?: {
    /** The code of its failure. */
    readonly code?: string;
    /** The lowest and the highest status of the vendor. */
    readonly status?: readonly [number, number];
  };
  /** Whether the gateway estimated the tokens. Requests without tokens are neither. */
  readonly isEstimated?: boolean;
  /** Whether the request was sent in the console, by its playground. */
  readonly isFromConsole?: boolean;
  /** Requests without the fact are in no range. */
  readonly ranges?: readonly FactRange[];
  /** Unix milliseconds: the request ended at that time or later. */
  readonly from?: number;
  /** Unix milliseconds: the request ended before. */
  readonly to?: number;
  /**
   * Text in the id, the message, or an attempt's message or vendor request id. Case is ignored for ASCII letters. Text
   * that cannot be part of an id is searched for only in requests with an error or a failed attempt. A whole request id
   * finds that request alone.
   */
  readonly text?: string;
  /** The order in which requests ended; `desc` is newest first. */
  readonly order: "asc" | "desc";
  /** Lists only requests after this position in that order. */
  readonly after?: number;
  /** The most requests to return. */
  readonly limit: number;
}

/** A part of the list. */
export interface RequestPage {
  readonly requests: readonly LoggedRequest[];
  /**
   * The position to continue after; null at the end of the list. A query that reaches its deadline returns what it has
   * found, possibly nothing, and continues from here.
   */
  readonly next: number | null;
}

/** The bodies of a request as they are read: texts without secrets. */
export interface StoredBodies {
  readonly request: string | null;
  readonly response: string | null;
  /** Whether a body was longer than the limit. */
  readonly isCut: boolean;
}

/** The state of the log. */
export interface RequestLogStats {
  /** Requests that were not logged since the start, because the log was too slow or could not be written. */
  readonly dropped: number;
  /** Requests without an account that were not logged since the start, because their address sent too many. */
  readonly skipped: number;
  /** Rows that are not written yet. */
  readonly queued: number;
  /** Requests whose bodies should have been kept, and could not. */
  readonly droppedBodies: number;
}

/**
 * The log of requests: one row for each. Adapters write it elsewhere than on the request path. A row is written within
 * a second of the end of its request, and then survives the end of the process.
 */
export interface RequestLog {
  /** Appends the record of a request that has ended, without blocking. Rows beyond the limits are dropped. */
  readonly observe: RequestObserver;
  /** Appends rows of requests that another thread has written, as {@linkcode RequestLog.observe}. */
  readonly observeRows: (rows: WrittenRows) => void;
  /** The state of the log. */
  readonly stats: RequestLogStats;
  /**
   * Lists requests.
   *
   * @param reader The caller that asks, whose queries wait for one another. Default: an operator.
   * @throws {GatewayError} `overloaded` if too many queries are under way, `rate_limited` if too many of the caller's
   * key wait, `storage_unavailable` if the log cannot be read.
   */
  list(query: RequestQuery, reader?: LogReader): Promise<RequestPage>;
  /**
   * The request with this id; null if there is none.
   *
   * @param reader As for {@linkcode RequestLog.list}.
   * @throws {GatewayError} As {@linkcode RequestLog.list}.
   */
  get(requestId: string, reader?: LogReader): Promise<LoggedRequest | null>;
  /**
   * The captured bodies of a request; null if none are kept.
   *
   * @throws {GatewayError} As {@linkcode RequestLog.list}.
   */
  bodies(requestId: string): Promise<StoredBodies | null>;
  /**
   * Removes all requests and bodies of an account. Resolves with the number of requests. Requests of the account that
   * end later are not logged.
   *
   * @throws {GatewayError} As {@linkcode RequestLog.list}.
   */
  deleteAccount(account: string): Promise<number>;
  /** Writes what is queued, then ends the log. */
  close(): Promise<void>;
}
