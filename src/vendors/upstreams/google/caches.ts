import * as z from "zod";
import { content } from "../../../conversation/codecs/content/mod.ts";
import { readCounter } from "../../../conversation/neutral/usage.ts";
import type { CacheUpstream, UpstreamCache } from "../contract/cache_upstream.ts";
import { UpstreamFailure } from "../call/failure.ts";
import type { Outbound } from "../call/outbound_call.ts";

/** The fields of a cached content that are read. Source: Gemini API reference, "Caching", version v1beta. */
const Cached = z.object({
  name: z.string().regex(/^cachedContents\/[\w-]{1,128}$/),
  displayName: z.string().nullish(),
  expireTime: z.string().nullish(),
  usageMetadata: z.object({ totalTokenCount: z.unknown().optional() }).nullish(),
});

const Page = z.object({ cachedContents: z.array(Cached).nullish(), nextPageToken: z.string().nullish() });

const PATH = "/v1beta/cachedContents";
const PAGE_SIZE = 1000;
const MAX_PAGES = 20;
/** The vendor processes millions of tokens within a minute. A creation that takes longer than this has failed. */
const CREATE_TIMEOUT_MS = 120_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_LIST_BYTES = 4_194_304;

/** Gemini's explicit caches. The mark is stored as the display name. Source: Gemini API reference, "Caching". */
export function googleCaches(outbound: Outbound): CacheUpstream {
  const commonOptions = { readError: content.upstream.readError, firstByteMs: REQUEST_TIMEOUT_MS };
  return {
    create({ mark, model, content: fields, expiresAt, callerSignal }) {
      const body = { model: `models/${model}`, displayName: mark, ...fields, expireTime: timeOf(expiresAt) };
      const extras = { ...commonOptions, firstByteMs: CREATE_TIMEOUT_MS, callerSignal, freshConnection: true };
      return outbound.json("POST", PATH, body, readCache, extras);
    },
    async extend(name, expiresAt) {
      const body = { expireTime: timeOf(expiresAt) };
      const path = `/v1beta/${name}?updateMask=expireTime`;
      return await nullIfMissing(() => outbound.json("PATCH", path, body, readCache, commonOptions)) !== null;
    },
    async remove(name) {
      await nullIfMissing(() => outbound.json("DELETE", `/v1beta/${name}`, null, () => true, commonOptions));
    },
    async find(mark) {
      const found: string[] = [];
      let token = "";
      for (let page = 0; page < MAX_PAGES; page++) {
        const path = `${PATH}?pageSize=${PAGE_SIZE}${token && `&pageToken=${encodeURIComponent(token)}`}`;
        const extras = { ...commonOptions, capBytes: MAX_LIST_BYTES };
        const { cachedContents, nextPageToken } = await outbound.json(
          "GET",
          path,
          null,
          (page) => Page.parse(page),
          extras,
        );
        for (const { name, displayName } of cachedContents ?? []) if (displayName === mark) found.push(name);
        if (!nextPageToken) break;
        token = nextPageToken;
      }
      return found;
    },
  };
}

function readCache(response: unknown): UpstreamCache {
  const { name, expireTime, usageMetadata } = Cached.parse(response);
  const expiresAt = Date.parse(expireTime ?? "");
  const count = usageMetadata?.totalTokenCount;
  const tokens = Number.isInteger(count) ? readCounter(count) : 0;
  return { name, tokens, expiresAt: Number.isNaN(expiresAt) ? null : expiresAt };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns null for 403 and 404. The vendor returns 403 both for a missing cache and for another account's. */
async function nullIfMissing<T>(send: () => Promise<T>): Promise<T | null> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof UpstreamFailure && (error.facts.status === 403 || error.facts.status === 404)) return null;
    throw error;
  }
}
