import { GatewayError } from "../lib/gateway_error.ts";
import type { CacheParts } from "./cache_parts.ts";
import type { CachedContent } from "./cached_content.ts";
import { readOwnUse } from "./records.ts";

/**
 * Passes when a cache that stands in its credential's list fits within the credential's caps. Every other cache of the
 * list counts, so of two that are created at once and do not both fit, none gets past the caps.
 *
 * @param bytes Of the cache itself.
 * @throws {GatewayError} `rate_limited`, which clients of the content protocol know as `RESOURCE_EXHAUSTED`.
 */
export async function checkCacheLimits(
  { store, caps }: CacheParts,
  { keyId, id }: Pick<CachedContent, "keyId" | "id">,
  bytes: number,
): Promise<void> {
  const others = await readOwnUse(store, keyId, { exceptId: id, most: caps.count });
  if (others.count >= caps.count) {
    throw aboveCaps(`this API key may have ${caps.count} cached contents at a time and has ${others.count}`);
  }
  if (others.bytes + bytes > caps.bytes) {
    const has = `has ${others.bytes}, and this one needs ${bytes}`;
    throw aboveCaps(`this API key may have ${caps.bytes} bytes of cached contents at a time, ${has}`);
  }
}

function aboveCaps(why: string): GatewayError {
  return new GatewayError(
    "rate_limited",
    `Cannot create the cached content: ${why}. Delete some, or wait until their time is over`,
  );
}
