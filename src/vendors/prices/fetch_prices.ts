import { GrowingBytes } from "../../platform/lib/bytes/growing_bytes.ts";
import { EgressError } from "../../platform/net/egress_error.ts";
import { guardedFetch } from "../../platform/net/guarded_fetch.ts";
import type { EgressPolicy, Schemes } from "../../platform/net/target.ts";
import { errorName } from "../../platform/lib/basics/log.ts";

/** The largest price list. Those of LiteLLM and models.dev had about 2 MB in November 2026. */
const MAX_PRICE_LIST_BYTES = 16 * 1024 * 1024;
/** The time limit of a download, body included. */
const PRICE_LIST_MS = 60_000;
const REDIRECTS = 3;

/** What a source answered before. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** A price list as it was received; null bytes if it has not changed. */
export interface FetchedPrices extends Validators {
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

/** A source that cannot be read. */
export class PriceSourceError extends Error {
  override readonly name = "PriceSourceError";
}

/** Whether a source is an address; else it is the path of a file. */
function isAddress(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/**
 * Reads a price list, with the egress rules applied to an address and all its redirects.
 *
 * @param before The validators of the last answer, so that an unchanged list is not sent again.
 * @throws {PriceSourceError} If it cannot be read, is too large or does not arrive in a minute.
 */
export async function fetchPrices(
  source: string,
  before: Validators,
  { policy, signal }: { readonly policy: EgressPolicy; readonly signal: AbortSignal },
): Promise<FetchedPrices> {
  if (!isAddress(source)) return { bytes: await readFile(source), etag: null, lastModified: null };
  const schemes: Schemes = /^https:/i.test(source) ? ["https:"] : ["http:", "https:"];
  try {
    const response = await guardedFetch(source, {
      method: "GET",
      headers: {
        accept: "application/json",
        "user-agent": "switchyard",
        ...before.etag !== null && { "if-none-match": before.etag },
        ...before.etag === null && before.lastModified !== null && { "if-modified-since": before.lastModified },
      },
      schemes,
      redirects: REDIRECTS,
      maxBytes: MAX_PRICE_LIST_BYTES,
      timeoutMs: PRICE_LIST_MS,
      signal,
    }, policy);
    const { status, body } = response;
    if (status === 304) {
      response.discard();
      return { ...before, bytes: null };
    }
    if (status !== 200) {
      response.discard();
      throw new PriceSourceError(`expected status 200, got ${status}`);
    }
    const bytes = new GrowingBytes({ expectedBytes: null });
    for await (const chunk of body) bytes.add(chunk);
    return { bytes: bytes.finish(), etag: response.header("etag"), lastModified: response.header("last-modified") };
  } catch (error) {
    if (error instanceof EgressError) throw new PriceSourceError(error.message);
    throw error;
  }
}

async function readFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { isFile, size } = await Deno.stat(path);
    if (!isFile) throw new PriceSourceError("expected a regular file");
    if (size > MAX_PRICE_LIST_BYTES) {
      throw new PriceSourceError(`expected a file of at most ${MAX_PRICE_LIST_BYTES} bytes, found ${size}`);
    }
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof PriceSourceError) throw error;
    throw new PriceSourceError(`cannot read the file: ${errorName(error)}`);
  }
}
