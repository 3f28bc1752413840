import type { DetachedWork } from "../calls/detached_work.ts";
import type { Authenticate } from "../../money/billing/authenticate.ts";
import type { DatedCatalog } from "../../vendors/catalog/catalog.ts";
import type { Handler, Inbound, Route } from "../../platform/http/request/inbound.ts";
import type { ByteCipher } from "../../platform/lib/bytes/byte_cipher.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { IdempotencyCounts } from "../../money/limits/idempotency_counts.ts";
import type { Store } from "../../platform/store/store.ts";
import type { BodyLimits } from "../../platform/http/bodies/body.ts";
import type { KeyedRequestParts, ReplayLimits } from "./keyed_request.ts";
import { Late } from "../../platform/lib/process/late.ts";

const keyedRequestModule = new Late(() => import("./keyed_request.ts"));
const replySecretModule = new Late(() => import("./reply_secret.ts"));

/** The dependencies of routes that accept an `Idempotency-Key`. */
export interface ReplayRouteOptions {
  readonly store: Store;
  /** Counts for all threads of the process. */
  readonly counts: IdempotencyCounts;
  readonly authenticate: Authenticate;
  readonly clock: Clock;
  readonly log: Log;
  /** All models. */
  readonly catalog: DatedCatalog;
  /** What a shutdown waits for. */
  readonly detached: DetachedWork;
  /** The largest body of any endpoint. */
  readonly body: BodyLimits;
  readonly settings: ReplayLimits & {
    readonly isEnabled: boolean;
    readonly accountKeys: number;
    readonly leaseMs: number;
  };
}

/**
 * Returns routes whose paid requests can be repeated with an `Idempotency-Key`; other routes are returned unchanged.
 * The code is loaded by the first request with a key. A request without one costs a comparison.
 */
export function withReplays(routes: readonly Route[], options: ReplayRouteOptions): Route[] {
  if (!options.settings.isEnabled) return [...routes];
  const keyed = lazyAnswer(options);
  return routes.map((route) => route.isRepeatable === true ? { ...route, handler: keyedHandler(route, keyed) } : route);
}

type KeyedAnswer = (handler: Handler, inbound: Inbound) => Promise<Response>;

function keyedHandler({ handler }: Route, answer: KeyedAnswer): Handler {
  return (inbound) => {
    const { headers = inbound.request.headers } = inbound;
    return headers.get("idempotency-key") === null ? handler(inbound) : answer(handler, inbound);
  };
}

function lazyAnswer(options: ReplayRouteOptions): KeyedAnswer {
  const { authenticate, store, counts, clock, log, catalog, detached, body, settings } = options;
  const { accountKeys, leaseMs, replyBytes, accountBytes } = settings;
  let parts: KeyedRequestParts | null = null;
  let opening: Promise<ByteCipher> | null = null;
  return async (handler, inbound) => {
    const credential = await authenticate(inbound);
    const { answerKeyed } = await keyedRequestModule.load();
    const { openReplyCipher } = await replySecretModule.load();
    const cipher = () =>
      opening ??= openReplyCipher(store).catch((error) => {
        opening = null;
        throw error;
      });
    parts ??= {
      store,
      clock,
      log,
      catalog,
      detached,
      body,
      counts,
      cipher,
      accountKeys,
      leaseMs,
      limits: { replyBytes, accountBytes },
    };
    return await answerKeyed(handler, inbound, credential, parts);
  };
}
