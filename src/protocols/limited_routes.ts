import type { Authenticate } from "../money/billing/authenticate.ts";
import type { Credential } from "../money/billing/keys/key_ring.ts";
import type { Handler, Inbound, Route } from "../platform/http/request/inbound.ts";
import { FairPermits } from "../platform/lib/collections/permits.ts";
import { rateExceeded, type RateTerms, RequestRate } from "../money/limits/request_rate.ts";
import type { Store } from "../platform/store/store.ts";

/** The dependencies of {@linkcode withCallerRates}. */
export interface CallerRateOptions {
  readonly store: Pick<Store, "take" | "now">;
  readonly authenticate: Authenticate;
  readonly limits: {
    /** Of each key. */
    readonly reads: RateTerms;
    /** Of each key. */
    readonly dryRuns: RateTerms;
  };
}

/** The keys of an account together have the rates of so many keys. */
const ACCOUNT_RATE_FACTOR = 10;
/** Dry runs of an account that run at once, since each of them may download media that the caller names. */
const MAX_DRY_RUNS_AT_ONCE = 4;

/** Of this process, whatever the configuration: open dry runs may have begun with an earlier one. */
const dryRunsAtOnce = new FairPermits({ each: MAX_DRY_RUNS_AT_ONCE });

/**
 * Returns routes whose reads and dry runs, which take nothing of the limits of a key, count in rates of their own.
 * Other routes are returned unchanged. Dry runs of an account also wait for one another; all are answered on the main
 * thread.
 *
 * A request above its rate is `rate_limited`, in the protocol of its route. Source:
 * docs/api/limits.md#reads-and-dry-runs.
 */
export function withCallerRates(routes: readonly Route[], options: CallerRateOptions): Route[] {
  const { limits: { reads, dryRuns } } = options;
  const onRead = countedBy(ratesOf("reads", reads, options), "reads");
  const onDryRun = countedBy(ratesOf("dry-runs", dryRuns, options), "dry runs");
  return routes.map((route) => {
    if (route.isRead === true) return { ...route, handler: read(route, onRead) };
    return route.isPaid === true ? { ...route, handler: dryRun(route, onDryRun) } : route;
  });
}

type Count = (inbound: Inbound) => Promise<Credential>;

function read({ handler }: Route, count: Count): Handler {
  return async (inbound) => {
    await count(inbound);
    return await handler(inbound);
  };
}

/** Any other request costs a comparison. */
function dryRun({ handler }: Route, count: Count): Handler {
  return (inbound) => {
    const { headers = inbound.request.headers } = inbound;
    return headers.get("x-service-dry-run") !== "true" ? handler(inbound) : (async () => {
      const { accountId } = await count(inbound);
      return await dryRunsAtOnce.run(accountId, async () => await handler(inbound));
    })();
  };
}

/** The rates of a kind of request, of keys and of accounts. */
interface CallerRates {
  readonly ofKeys: RequestRate;
  readonly ofAccounts: RequestRate;
  readonly authenticate: Authenticate;
}

function ratesOf(name: string, terms: RateTerms, { store, authenticate }: CallerRateOptions): CallerRates {
  const { requests, perMs, burst } = terms;
  const ofAccount = {
    requests: requests * ACCOUNT_RATE_FACTOR,
    perMs,
    burst: Math.max(burst, 1) * ACCOUNT_RATE_FACTOR,
  };
  return {
    ofKeys: new RequestRate(store, name, terms),
    ofAccounts: new RequestRate(store, `account-${name}`, ofAccount),
    authenticate,
  };
}

/** @param what The kind of request, for people. */
function countedBy({ ofKeys, ofAccounts, authenticate }: CallerRates, what: string): Count {
  return async (inbound) => {
    const credential = await authenticate(inbound);
    const ofKey = await ofKeys.take(credential.keyId);
    if (!ofKey.ok) throw rateExceeded(`${what} of the key`, ofKey);
    const ofAccount = await ofAccounts.take(credential.accountId);
    if (!ofAccount.ok) throw rateExceeded(`${what} of the account`, ofAccount);
    return credential;
  };
}
