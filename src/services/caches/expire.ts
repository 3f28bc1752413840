import type { JobHandler } from "../../platform/store/job_runner.ts";
import type { CacheUpstream } from "../../vendors/upstreams/contract/cache_upstream.ts";
import { UpstreamFailure } from "../../vendors/upstreams/call/failure.ts";
import { mergeCommits } from "../../money/billing/accounts/records.ts";
import type { CacheParts } from "./cache_parts.ts";
import { type CachedContent, cacheFileOf } from "./cached_content.ts";
import { dropCache, endCache, readCacheEntry, readExpiryRef } from "./records.ts";

/** How long a content is kept after its cache expires: earlier references may still be in transit. */
export const GRACE_MS = 30_000;
/** The vendor's copy expires by itself, so attempts to delete it are limited to this time. */
const VENDOR_PATIENCE_MS = 600_000;

/** The job that ends an expired cache, or an incomplete create. A job for an older expiry has no effect. */
export function expireHandler({ store, log }: CacheParts): JobHandler {
  return async (job) => {
    const { id, revision } = readExpiryRef(job.ref);
    const entry = await readCacheEntry(store, id);
    const isDue = entry !== null && entry.value.state !== "ended" && entry.value.revision === revision;
    if (!isDue) return void await store.commit(null, { completeJobs: [job] });
    const { ok } = await store.commit(null, mergeCommits(endCache({}, entry, store.now()), { completeJobs: [job] }));
    if (ok) return log.info("cache_expired", { ref: id, state: entry.value.state, accountId: entry.value.account });
    // A concurrent patch or delete came first: run again.
    await store.commit(null, { postponeJobs: [{ job, dueAt: store.now(), attempt: job.attempt + 1 }] });
  };
}

/** The job that removes an ended cache: the file, the vendor's copy, and last the record. */
export function deleteHandler(parts: CacheParts): JobHandler {
  const { store, files } = parts;
  return async (job) => {
    const entry = await readCacheEntry(store, job.ref);
    if (entry === null) return void await store.commit(null, { completeJobs: [job] });
    await files.remove(cacheFileOf(entry.value.id));
    await removeAtVendor(parts, entry.value);
    await store.commit(null, mergeCommits(dropCache({}, entry), { completeJobs: [job] }));
  };
}

async function removeAtVendor({ providers, store, log }: CacheParts, cache: CachedContent): Promise<void> {
  const { id, home, expiresAt } = cache;
  if (home.kind === "emulated") return;
  const upstream = providers.get(home.provider)?.capabilities.caches;
  if (!upstream) {
    return log.warn("cache_left_with_vendor", { ref: id, provider: home.provider, reason: "not configured" });
  }
  try {
    for (const name of await namesOf(upstream, id, home.upstreamName)) await upstream.remove(name);
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || store.now() < expiresAt + VENDOR_PATIENCE_MS) throw error;
    log.warn("cache_left_with_vendor", { ref: id, provider: home.provider, reason: error.kind });
  }
}

async function namesOf(upstream: CacheUpstream, id: string, known: string | null): Promise<readonly string[]> {
  return known === null ? await upstream.find(id) : [known];
}
