import type { OutboundCall } from "../call/outbound_call.ts";

/** The interface of a vendor for batches of requests. Failures are those of the provider's outbound client. */
export interface BatchUpstream {
  /** The most that one batch may have. */
  readonly limits: BatchLimits;
  /**
   * Writes a request as a line of a batch, without a line feed. The body stays as it is.
   *
   * @param id Unique in the batch: letters, digits and hyphens, at most 64.
   */
  writeLine(id: string, call: BatchedCall): Uint8Array<ArrayBuffer>;
  /** The inputs of a request that count in the limit of inputs. Absent: none do. */
  readonly inputsOf?: (call: BatchedCall) => number;
  /** Uploads the lines as a file and returns its name, for vendors whose batches refer to one. */
  readonly upload?: (content: BatchContent, signal: AbortSignal) => Promise<string>;
  /** Creates a batch and returns its id. It is sent over a new connection, at most once. */
  create(order: BatchOrder, signal: AbortSignal): Promise<string>;
  /**
   * Searches for the batch of an order.
   *
   * @param sinceMs No batch of the order was created before, in Unix milliseconds.
   * @returns Its id; `absent` if the vendor does not list it; `unclear` if the vendor cannot tell yet.
   */
  find(order: BatchOrder, sinceMs: number): Promise<{ readonly id: string } | "absent" | "unclear">;
  /** Reads the state of a batch. */
  read(id: string): Promise<BatchProgress>;
  /** Asks the vendor to cancel a batch. One that has ended stays as it is. */
  cancel(id: string): Promise<void>;
  /**
   * Opens what has results of an ended batch: lines in any order, in chunks of any size.
   *
   * @param name One of {@linkcode EndedBatch.results}.
   * @param from The first byte that is needed. A vendor may send all bytes nevertheless.
   */
  results(name: string, from: number): Promise<ResultContent>;
  /**
   * Reads a line of the results; null if it is none. A line of any length does not keep others waiting.
   *
   * @throws {SyntaxError} If it is not a JSON text.
   */
  readResult(line: Uint8Array<ArrayBuffer>): Promise<BatchResult | null>;
  /**
   * Removes an ended batch and its files at the vendor, as far as the vendor has a way.
   *
   * @param files The uploaded file, and what {@linkcode EndedBatch.results} names.
   */
  remove(id: string, files: readonly string[]): Promise<void>;
}

/** The limits of one batch at a vendor. */
export interface BatchLimits {
  /** The number of lines. */
  readonly lines: number;
  /** Of all lines with their line feeds. */
  readonly bytes: number;
  /** Of the inputs of all lines, as `inputsOf` counts them. Absent: no limit. */
  readonly inputs?: number;
}

/** A request as it would be sent by itself. */
export interface BatchedCall extends Pick<OutboundCall, "path" | "headers"> {
  /** JSON. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The lines of a batch, each with a line feed at its end. */
export interface BatchContent {
  /** Of all lines. */
  readonly lengthBytes: number;
  /** The bytes from the start, on every call. */
  open(): AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** A batch to be created. */
export interface BatchOrder extends Pick<BatchedCall, "path" | "headers"> {
  /** The gateway's own name for it, by which it is found again. */
  readonly mark: string;
  /** What the ids of its lines begin with, and those of no other batch, for vendors without a place for the mark. */
  readonly idPrefix: string;
  /** The vendor's name of the model of all lines. */
  readonly model: string;
  /** The number of lines. */
  readonly count: number;
  /** The lines. */
  readonly content: BatchContent;
  /** The name of the uploaded file; null for vendors without {@linkcode BatchUpstream.upload}. */
  readonly file: string | null;
}

/** The state of a batch at its vendor. `gone`: the vendor has it no more. */
export type BatchProgress = { readonly state: "open" } | { readonly state: "gone" } | EndedBatch;

/** A batch that has ended at its vendor. */
export interface EndedBatch {
  /** It tells the states apart. */
  readonly state: "ended";
  /** Why no line was run; null if lines were, or may have been. */
  readonly failure: BatchFailure | null;
  /** What has the results, for {@linkcode BatchUpstream.results}. */
  readonly results: readonly string[];
}

/** Results that are read. */
export interface ResultContent {
  /** The place of the first byte that is sent: that which was asked for, or an earlier one. */
  readonly from: number;
  /** Its bytes from there on, in their order. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Why a vendor ran no line of a batch. */
export interface BatchFailure {
  /** The vendor's code; empty if there is none. */
  readonly code: string;
  /** The vendor's message, redacted. */
  readonly message: string;
  /** Whether the same batch can be accepted later. */
  readonly isTemporary: boolean;
}

/** The result of one line: an HTTP reply, or why there is none. */
export type BatchResult =
  | { readonly id: string; readonly status: number; readonly body: Uint8Array<ArrayBuffer> }
  | { readonly id: string; readonly unrun: string };
