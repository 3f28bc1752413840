import { type Clock, waitAtMost } from "../../platform/lib/basics/clock.ts";
import { holdWork } from "../../platform/lib/basics/held.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import { UpstreamFailure } from "../upstreams/call/failure.ts";
import type { Provider } from "../upstreams/contract/provider.ts";
import { FailureEvidence, type FailureScope } from "./failure_evidence.ts";

/**
 * Detects providers whose credentials their vendors reject.
 *
 * A 401 of a vendor proves nothing, since a caller may be able to cause it. The monitor therefore probes the provider
 * in the background with a request that depends on no caller and costs nothing. Only if the probe is rejected too, the
 * provider counts as misconfigured. If a probe is inconclusive or contradicts recently accepted requests,
 * {@linkcode FailureEvidence} decides. A misconfigured provider is probed again with increasing delays until it accepts
 * the credential. If the probe is inconclusive, one caller's request is let through each time.
 *
 * A 403 is about a model, a region or a content in most cases, and proves less. One that names a model or a place has
 * no effect ({@linkcode UpstreamFailure.mayBlameCredential}); any other only starts the probe. If the probe is
 * rejected, the rules of a 401 apply. If the probe is a 403 too, the key may lack the permission for the probe alone:
 * only three 403s in a row and no accepted request mark the credential, which is then tried every ten seconds.
 */
export interface CredentialMonitor {
  /** Whether the account's requests must not use the provider. */
  isRejected(provider: string, accountId: string): boolean;
  /** A request starts. */
  onStart(provider: string, accountId: string): CredentialReport;
  /** Unix milliseconds since which the credential is rejected; null while it is accepted. */
  rejectedAt(provider: string): number | null;
  /** Stops the probes. */
  close(): Promise<void>;
}

/** The monitor of a process, which follows changes of the configuration. */
export interface ProcessCredentialMonitor extends CredentialMonitor {
  /** Replaces the providers. A provider that is the same object as before keeps its state. */
  replaceProviders(providers: CredentialMonitorOptions["providers"]): void;
}

/** Reports the result of a request. Exactly one of the functions is called, once. */
export interface CredentialReport {
  accepted(): void;
  rejected(): void;
  /** The vendor answered 403 without blaming the credential. */
  forbidden(): void;
  neutral(): void;
}

/** Options of {@linkcode createCredentialMonitor}. */
export interface CredentialMonitorOptions {
  /** By name. */
  readonly providers: ReadonlyMap<string, Pick<Provider, "probe">>;
  readonly clock: Clock;
  readonly log: Log;
}

const NO_REPORT: CredentialReport = { accepted() {}, rejected() {}, forbidden() {}, neutral() {} };

/** A monitor that never treats a credential as rejected. */
export const UNMONITORED_CREDENTIALS: CredentialMonitor = {
  isRejected: () => false,
  onStart: () => NO_REPORT,
  rejectedAt: () => null,
  close: () => Promise.resolve(),
};

/** The time window for 401s, 403s and traffic if no probe decides. */
const WINDOW_MS = 60_000;
/** How long an accepted request outweighs a rejected probe: a key may be valid for a model but not for the probe. */
const ACCEPTED_HOLDS_MS = 600_000;
/** How long the result of a probe outweighs further 401s. */
const VERDICT_HOLDS_MS = 30_000;
const MIN_PROBE_DELAY_MS = 10_000;
const MAX_PROBE_DELAY_MS = 300_000;
/** The time limit for an aborted probe to end. */
const CLOSE_MS = 1_000;
/** Enough to include two accounts. */
const MAX_REJECTIONS = 4;
/** The 403s in a row that mark a credential whose probe is a 403 too. */
const MIN_FORBIDDEN = 3;

const DOUBTED = "The vendor answered a request with 401, but accepts the credential when it is probed";

/** Creates a monitor. It sends nothing before the first 401. */
export function createCredentialMonitor(options: CredentialMonitorOptions): ProcessCredentialMonitor {
  let credentials = credentialsOf(options.providers, new Map(), options);
  return {
    isRejected: (provider, accountId) => credentials.get(provider)?.isRejectedFor(accountId) ?? false,
    onStart: (provider, accountId) => credentials.get(provider)?.onStart(accountId) ?? NO_REPORT,
    rejectedAt: (provider) => credentials.get(provider)?.rejectedAt ?? null,
    replaceProviders(providers) {
      const before = credentials;
      credentials = credentialsOf(providers, before, options);
      for (const [name, credential] of before) {
        if (credentials.get(name) !== credential) holdWork(credential.close());
      }
    },
    async close() {
      await Promise.all([...credentials.values()].map((credential) => credential.close()));
    },
  };
}

function credentialsOf(
  providers: CredentialMonitorOptions["providers"],
  before: ReadonlyMap<string, Credential>,
  options: CredentialMonitorOptions,
): ReadonlyMap<string, Credential> {
  return new Map(
    [...providers].map(([name, provider]) => {
      const known = before.get(name);
      return [name, known?.provider === provider ? known : new Credential(name, provider, options)] as const;
    }),
  );
}

/** The report of one request. */
class Report implements CredentialReport {
  constructor(readonly credential: Credential, readonly accountId: string, readonly isTrial: boolean) {}

  accepted(): void {
    this.credential.onAccepted();
  }

  rejected(): void {
    this.credential.onRejected(this.accountId, this.isTrial);
  }

  forbidden(): void {
    this.credential.onForbidden(this.accountId, this.isTrial);
  }

  neutral(): void {
    this.credential.onNeutral(this.isTrial);
  }
}

function evidenceOf({ clock }: CredentialMonitorOptions): FailureEvidence {
  return new FailureEvidence({ clock, windowMs: WINDOW_MS, maxFailures: MAX_REJECTIONS });
}

/** The result of a probe. */
type Verdict = "accepted" | "rejected" | "forbidden" | "unknown";

/** The state of one provider's credential. */
class Credential {
  /** Unix milliseconds since which it is rejected; null while it is accepted. */
  rejectedAt: number | null = null;
  #scope: FailureScope = { accountId: null };
  readonly #evidence: FailureEvidence;
  /** The 403s; null before the first. */
  #forbidden: FailureEvidence | null = null;
  #acceptedAt = -Infinity;
  #verdict: Verdict = "unknown";
  #verdictUntil = -Infinity;
  #probing: Promise<void> | null = null;
  #abort: AbortController | null = null;
  #delayMs = MIN_PROBE_DELAY_MS;
  #stopTimer: () => void = () => {};
  #trial: "none" | "due" | "running" = "none";
  #isClosed = false;

  constructor(
    readonly name: string,
    readonly provider: Pick<Provider, "probe">,
    readonly options: CredentialMonitorOptions,
  ) {
    this.#evidence = evidenceOf(options);
  }

  isRejectedFor(accountId: string): boolean {
    if (this.rejectedAt === null || this.#trial === "due") return false;
    return this.#scope.accountId === null || this.#scope.accountId === accountId;
  }

  onStart(accountId: string): CredentialReport {
    this.#evidence.onTraffic(accountId);
    this.#forbidden?.onTraffic(accountId);
    const isTrial = this.#trial === "due";
    if (isTrial) this.#trial = "running";
    return new Report(this, accountId, isTrial);
  }

  /** A request was accepted. */
  onAccepted(): void {
    this.#acceptedAt = this.options.clock.monotonicMs();
    this.#onAccepted();
  }

  /** A request of the account was rejected. */
  onRejected(accountId: string, isTrial: boolean): void {
    if (isTrial) this.#trial = "none";
    this.#onRejected(accountId);
  }

  /** A request of the account was answered with a 403 that does not blame the credential. */
  onForbidden(accountId: string, isTrial: boolean): void {
    if (isTrial) this.#trial = "none";
    this.#forbidden ??= evidenceOf(this.options);
    this.#forbidden.onTraffic(accountId);
    this.#forbidden.onFailure(accountId);
    if (this.#isClosed || this.#probing !== null || this.provider.probe === undefined) return;
    if (this.rejectedAt !== null) return void (this.#forbidden.isShared && (this.#scope = { accountId: null }));
    const isFresh = this.options.clock.monotonicMs() < this.#verdictUntil;
    if (!isFresh) this.#probe((verdict) => this.#onForbiddenVerdict(verdict, accountId));
    else if (this.#verdict === "rejected" || this.#verdict === "forbidden") {
      this.#onForbiddenVerdict(this.#verdict, accountId);
    }
  }

  /** A request ended without a verdict. */
  onNeutral(isTrial: boolean): void {
    // The next request becomes the trial then.
    if (isTrial && this.#trial === "running") this.#trial = "due";
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    this.#abort?.abort();
    if (this.#probing === null) return;
    await waitAtMost(this.options.clock, CLOSE_MS, this.#probing);
  }

  #onAccepted(): void {
    this.#evidence.clear();
    this.#forbidden?.clear();
    if (this.rejectedAt === null) return;
    this.rejectedAt = null;
    this.#trial = "none";
    this.#stopTimer();
    this.options.log.info("provider_credential_accepted", { provider: this.name });
  }

  #onRejected(accountId: string): void {
    this.#evidence.onFailure(accountId);
    if (this.#isClosed || this.#probing !== null) return;
    const isFresh = this.options.clock.monotonicMs() < this.#verdictUntil;
    if (this.rejectedAt !== null) this.#widenScope();
    else if (this.provider.probe === undefined || (isFresh && this.#verdict !== "accepted")) this.#judgeByEvidence();
    else if (!isFresh) this.#probe((verdict) => this.#onFirstVerdict(verdict));
  }

  #widenScope(): void {
    if (this.#evidence.isShared) this.#scope = { accountId: null };
  }

  #judgeByEvidence(): void {
    const scope = this.#evidence.scope(1);
    if (scope !== null) this.#markRejected(scope);
  }

  #onFirstVerdict(verdict: Verdict): void {
    const { clock, log } = this.options;
    if (verdict === "accepted") {
      return log.warn("provider_credential_doubted", { provider: this.name, reason: DOUBTED });
    }
    const isContradicted = clock.monotonicMs() - this.#acceptedAt < ACCEPTED_HOLDS_MS;
    if (verdict === "rejected" && !isContradicted) this.#markRejected({ accountId: null });
    else this.#judgeByEvidence();
  }

  #onForbiddenVerdict(verdict: Verdict, accountId: string): void {
    if (this.rejectedAt !== null) return;
    if (verdict === "rejected") {
      this.#evidence.onFailure(accountId);
      return this.#onFirstVerdict("rejected");
    }
    if (verdict !== "forbidden" || this.options.clock.monotonicMs() - this.#acceptedAt < WINDOW_MS) return;
    const scope = this.#forbidden?.scope(MIN_FORBIDDEN) ?? null;
    if (scope !== null) this.#markRejected(scope);
  }

  #markRejected(scope: FailureScope): void {
    this.rejectedAt = this.options.clock.now();
    this.#scope = scope;
    this.#delayMs = MIN_PROBE_DELAY_MS;
    this.#trial = "none";
    this.options.log.error("provider_misconfigured", {
      provider: this.name,
      reason: "The vendor rejects the provider's credential; check api_key and headers",
    });
    this.#probeLater();
  }

  #probeLater(): void {
    this.#stopTimer();
    this.#stopTimer = this.options.clock.after(this.#delayMs, () => this.#probe((verdict) => this.#onNext(verdict)));
    this.#delayMs = Math.min(this.#delayMs * 2, MAX_PROBE_DELAY_MS);
  }

  #onNext(verdict: Verdict): void {
    if (this.rejectedAt === null) return;
    if (verdict === "accepted") return this.#onAccepted();
    if (verdict === "rejected") this.#scope = { accountId: null };
    else if (this.#trial === "none") this.#trial = "due";
    // The key may be good, so callers must not wait for longer and longer.
    if (verdict === "forbidden") this.#delayMs = MIN_PROBE_DELAY_MS;
    this.#probeLater();
  }

  #probe(onVerdict: (verdict: Verdict) => void): void {
    if (this.#probing !== null || this.#isClosed) return;
    this.#abort = new AbortController();
    this.#probing = this.#ask(this.#abort.signal).then((verdict) => {
      this.#probing = null;
      if (this.#isClosed) return;
      this.#verdict = verdict;
      this.#verdictUntil = this.options.clock.monotonicMs() + VERDICT_HOLDS_MS;
      onVerdict(verdict);
    });
  }

  async #ask(signal: AbortSignal): Promise<Verdict> {
    if (this.provider.probe === undefined) return "unknown";
    try {
      await this.provider.probe(signal);
      return "accepted";
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) return "unknown";
      if (error.kind === "auth") return "rejected";
      return error.mayBlameCredential ? "forbidden" : "unknown";
    }
  }
}
