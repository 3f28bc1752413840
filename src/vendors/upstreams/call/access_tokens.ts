import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { HeaderFields } from "./authorization.ts";

/** A token as issued. */
export interface AccessToken {
  /** Never logged. */
  readonly value: string;
  /** From its issue, in milliseconds. */
  readonly lifetimeMs: number;
}

/** The access tokens of one provider, which many requests share. */
export interface AccessTokens {
  /**
   * Returns header fields with a valid token: at once while there is one, else as a promise. The object is the same for
   * the same token. Rejects with the error of the fetch.
   */
  fields(): MaybePromise<HeaderFields>;
  /**
   * The vendor answered 401 to these fields. Returns whether a request has a chance with the fields that follow: false
   * for a token that was issued less than a minute ago.
   */
  reject(fields: HeaderFields): boolean;
  /** Removes the tokens from a text. */
  hide(text: string): string;
}

interface HeldToken {
  readonly value: string;
  readonly fields: HeaderFields;
  /** These times are monotonic. */
  readonly issuedAtMs: number;
  readonly renewAtMs: number;
  readonly endsAtMs: number;
}

/** How long before its end a token is renewed while requests still use it; at most half of its lifetime. */
const RENEWAL_MS = 300_000;
/** How long before its end a token is not used any more, for requests on their way; at most a tenth of its lifetime. */
const RESERVE_MS = 30_000;
/** Callers may be able to cause a 401, and must not cause a fetch each time. */
const MIN_AGE_OF_REJECTED_MS = 60_000;
/** No further fetch follows a failed one within this time. */
const PAUSE_MS = 2_000;
const MAX_FETCH_MS = 30_000;

/**
 * Creates a source of tokens. A token is fetched when the first request needs one, once for all that wait. It is
 * renewed in the background before it ends.
 *
 * @param fetchToken Issues a token. The signal aborts after 30 seconds.
 */
export function createAccessTokens(
  fetchToken: (late: AbortSignal) => Promise<AccessToken>,
  clock: Clock,
): AccessTokens {
  let held: HeldToken | null = null;
  let fetching: Promise<HeaderFields> | null = null;
  let failed: { readonly error: unknown; readonly atMs: number } | null = null;
  /** The last two: a vendor may repeat a token that was replaced meanwhile. */
  let issued: readonly string[] = [];

  const fetchOnce = (): Promise<HeaderFields> => {
    if (fetching !== null) return fetching;
    const pausedBy = failed;
    if (pausedBy !== null && clock.monotonicMs() < pausedBy.atMs + PAUSE_MS) return Promise.reject(pausedBy.error);
    const fetched = fetchAndHold();
    fetching = fetched;
    return fetched;
  };

  const fetchAndHold = async (): Promise<HeaderFields> => {
    const startedAtMs = clock.monotonicMs();
    const late = new AbortController();
    const stop = clock.after(MAX_FETCH_MS, () => late.abort());
    try {
      held = heldToken(await fetchToken(late.signal), startedAtMs);
      failed = null;
      issued = [held.value, ...issued.slice(0, 1)];
      return held.fields;
    } catch (error) {
      failed = { error, atMs: clock.monotonicMs() };
      throw error;
    } finally {
      stop();
      fetching = null;
    }
  };

  return {
    fields() {
      const now = clock.monotonicMs();
      if (held === null || now >= held.endsAtMs) return fetchOnce();
      // The token is still valid, so a failure is not reported before its end.
      if (now >= held.renewAtMs) fetchOnce().catch(() => {});
      return held.fields;
    },
    reject(fields) {
      if (held?.fields !== fields) return true; // replaced since the request was sent
      if (clock.monotonicMs() < held.issuedAtMs + MIN_AGE_OF_REJECTED_MS) return false;
      held = null;
      return true;
    },
    hide: (text) => issued.reduce((clean, token) => clean.replaceAll(token, "[redacted]"), text),
  };
}

/** @param issuedAtMs The start of the fetch: the time on the way counts as used. */
function heldToken({ value, lifetimeMs }: AccessToken, issuedAtMs: number): HeldToken {
  return {
    value,
    fields: { authorization: `Bearer ${value}` },
    issuedAtMs,
    renewAtMs: issuedAtMs + lifetimeMs - Math.min(RENEWAL_MS, lifetimeMs / 2),
    endsAtMs: issuedAtMs + lifetimeMs - Math.min(RESERVE_MS, lifetimeMs / 10),
  };
}
