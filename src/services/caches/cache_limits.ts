import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { CacheParts } from "./cache_parts.ts";
import type { CachedContent } from "./cached_content.ts";
import { readOwnUse } from "./records.ts";

/**
 * Checks that a cache in its credential's list fits within the credential's limits. Every other cache in the list
 * counts. If two are created concurrently and do not both fit, neither exceeds the limits.
 *
 * @param bytes The size of the cache.
 * @throws {GatewayError} `rate_limited`, which the content protocol reports as `RESOURCE_EXHAUSTED`.
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
    `Cannot create the cached content: ${why}. Delete some, or wait until they expire`,
  );
}
