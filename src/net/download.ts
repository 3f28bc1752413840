import { essenceOf } from "../lib/content_type.ts";
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
  readonly signal?: AbortSignal | undefined;
  /**
   * Asks {@linkcode openDownload} for a part, as a `Range` field says it (RFC 9110, 14.2): `bytes=0-499`. Default: the
   * whole.
   */
  readonly range?: string | null | undefined;
  /**
   * Called by {@linkcode download} before bytes are read: with the announced length at once, else in steps. Throws to
   * refuse them. Default: all are taken.
   */
  readonly reserve?: ((bytes: number) => void) | undefined;
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
  /** Of the body, as the server announces it; null when it does not. */
  readonly length: number | null;
  /**
   * Where the body stands in the whole, as a `Content-Range` field says it (`bytes 0-499/1234`); null for the whole.
   */
  readonly part: string | null;
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

/**
 * As {@linkcode download}, for files that are too large to be held: the body is read, or discarded, by the caller. A
 * server may give the whole where a part is asked for.
 */
export async function openDownload(
  address: unknown,
  options: DownloadOptions,
  policy: EgressPolicy,
): Promise<DownloadStream> {
  const response = await guardedFetch(address, {
    method: "GET",
    headers: {
      accept: options.accept ?? "*/*",
      "user-agent": "switchyard",
      ...(options.range ? { range: options.range } : {}),
    },
    schemes: options.schemes ?? ["https:", "http:"],
    redirects: REDIRECTS,
    capBytes: options.maxBytes,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    signal: options.signal,
  }, policy);
  const part = options.range && response.status === 206 ? partOf(response) : null;
  if (response.status !== 200 && part === null) {
    response.discard();
    throw new DownloadRefused(response.status);
  }
  const length = lengthOf(response);
  if (length !== null && length > options.maxBytes) {
    response.discard();
    throw new EgressError("too_large", `expected at most ${options.maxBytes} bytes`);
  }
  const { body } = response;
  return { body, mediaType: mediaTypeOf(response), length, part, discard: () => response.discard() };
}

/** Null for a part that does not say where it stands. */
function partOf(response: GuardedResponse): string | null {
  const field = response.header("content-range");
  return field !== null && /^bytes \d{1,15}-\d{1,15}\/(\d{1,15}|\*)$/.test(field) ? field : null;
}

function mediaTypeOf(response: GuardedResponse): string {
  return essenceOf(response.header("content-type") ?? "");
}

function lengthOf(response: GuardedResponse): number | null {
  const field = response.header("content-length");
  return field !== null && /^[0-9]{1,15}$/.test(field) ? Number(field) : null;
}
