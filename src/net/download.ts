import { GrowingBytes } from "../lib/growing_bytes.ts";
import { EgressError } from "./egress_error.ts";
import { guardedFetch, type GuardedResponse } from "./guarded_fetch.ts";
import type { EgressPolicy, Schemes } from "./target.ts";

/** What to fetch and how much of it at most. */
export interface DownloadOptions {
  readonly maxBytes: number;
  /** Longest time for everything. Default 60 s. */
  readonly timeoutMs?: number;
  /** Default http and https. */
  readonly schemes?: Schemes;
  /** What is hoped for, such as `image/*`. */
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /**
   * Called by {@linkcode download} before bytes are read: with the announced length at once, else in steps. Throws to
   * refuse them. Default: all are taken.
   */
  readonly reserve?: (bytes: number) => void;
}

/** A file that was fetched. */
export interface Download {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** As the server names it, in lower case and without parameters; empty when it does not. Not to be relied on. */
  readonly mediaType: string;
}

/** A file on its way. */
export interface DownloadStream {
  /** See {@linkcode GuardedResponse.body}. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly mediaType: string;
  /** As the server announces it; null when it does not. */
  readonly length: number | null;
  discard(): void;
}

/** The server answered, but not with the file. */
export class DownloadRefused extends Error {
  override readonly name = "DownloadRefused";

  /** @param status The status of the answer. */
  constructor(readonly status: number) {
    super(`the server answered ${status}`);
  }
}

const REDIRECTS = 3;
const TIMEOUT_MS = 60_000;

/**
 * Fetches a file from an address that a caller or a vendor named, under the egress guard.
 *
 * @throws {EgressError} If it may not or cannot be fetched, or is too large.
 * @throws {DownloadRefused} If the answer is not a 200.
 * @throws {unknown} What `reserve` throws.
 */
export async function download(address: unknown, options: DownloadOptions, policy: EgressPolicy): Promise<Download> {
  const { body, mediaType, length, discard } = await openDownload(address, options, policy);
  let bytes: GrowingBytes;
  try {
    bytes = new GrowingBytes({ expectedBytes: length, reserve: options.reserve });
  } catch (error) {
    discard();
    throw error;
  }
  try {
    for await (const chunk of body) bytes.add(chunk);
    return { bytes: bytes.finish(), mediaType };
  } catch (error) {
    bytes.drop();
    throw error;
  }
}

/** As {@linkcode download}, for files that are too large to be held: the body is read, or discarded, by the caller. */
export async function openDownload(
  address: unknown,
  options: DownloadOptions,
  policy: EgressPolicy,
): Promise<DownloadStream> {
  const response = await guardedFetch(address, {
    method: "GET",
    headers: { accept: options.accept ?? "*/*", "user-agent": "switchyard" },
    schemes: options.schemes ?? ["https:", "http:"],
    redirects: REDIRECTS,
    capBytes: options.maxBytes,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    signal: options.signal,
  }, policy);
  if (response.status !== 200) {
    response.discard();
    throw new DownloadRefused(response.status);
  }
  const length = lengthOf(response);
  if (length !== null && length > options.maxBytes) {
    response.discard();
    throw new EgressError("too_large", `expected at most ${options.maxBytes} bytes`);
  }
  return { body: response.body, mediaType: mediaTypeOf(response), length, discard: () => response.discard() };
}

function mediaTypeOf(response: GuardedResponse): string {
  return (response.header("content-type") ?? "").split(";", 1)[0].trim().toLowerCase();
}

function lengthOf(response: GuardedResponse): number | null {
  const field = response.header("content-length");
  return field !== null && /^[0-9]{1,15}$/.test(field) ? Number(field) : null;
}
