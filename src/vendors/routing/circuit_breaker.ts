import type { Clock } from "../../platform/lib/basics/clock.ts";
import { UpstreamFailure } from "../upstreams/call/failure.ts";
import { Circuit } from "./circuit.ts";
import { type CredentialMonitor, type CredentialReport, UNMONITORED_CREDENTIALS } from "./credential_monitor.ts";
import { FailureEvidence } from "./failure_evidence.ts";
import { type AttemptCounts, type ProviderHealth, providerHealthOf } from "./provider_health.ts";

/** The target of an attempt. */
export interface AttemptTarget {
  /** The provider's configured name. */
  readonly provider: string;
  /** The vendor's name of the model. */
  readonly model: string;
}

/**
 * Decides which providers to skip, from the results of attempts.
 *
 * Each provider has a circuit for its connections. `failuresToOpen` consecutive connection failures open it for all
 * models and accounts: no caller can cause them. Each model of a provider has a circuit for failures that a caller may
 * have caused (timeouts, resets, 429, 5xx). It opens if two accounts had failures within `windowMs`. If only one
 * account sent traffic, it opens for that account only. See {@linkcode Circuit} for open times and probes. Memory is
 * bounded by the configuration: nothing is kept per account or request.
 */
export interface CircuitBreaker {
  /** Whether the account's requests can be served there, should use another provider, or cannot be served there. */
  availabilityOf(target: AttemptTarget, accountId: string): Availability;
  /** An attempt starts. After the open time it is the probe. */
  onStart(target: AttemptTarget, accountId: string): AttemptReport;
  /** The health of every provider that was used since the start. */
  health(): readonly ProviderHealth[];
}

/** The breaker of a process, which follows changes of the configuration. */
export interface ProcessCircuitBreaker extends CircuitBreaker {
  /** Closes all circuits of a provider and drops its counts. Attempts under way no longer count. */
  forget(provider: string): void;
  /**
   * Another process found that a provider cannot be reached. One failure here is then sufficient to open the circuit
   * of its connections.
   */
  noteOpenedElsewhere(provider: string): void;
  /** Notes attempts that succeeded in another thread, which tells their number alone. */
  noteSuccesses(target: AttemptTarget, accountId: string, count: number): void;
}

/** `resting`: use only if no other provider is left. `misconfigured`: the vendor rejects the provider's credential. */
export type Availability = "available" | "resting" | "misconfigured";

/** Reports the result of an attempt. Exactly one of the two functions is called, once. */
export interface AttemptReport {
  /** The attempt succeeded. */
  succeeded(): void;
  /** The attempt failed. Errors other than {@linkcode UpstreamFailure} do not count. */
  failed(error: unknown): void;
}

/** Settings; times in milliseconds. */
export interface CircuitBreakerOptions {
  readonly clock: Clock;
  /** Called after each failed attempt. Default: nothing is called. */
  readonly onFailure?: () => void;
  /** Called when the circuit of a provider's connections opens. Default: nothing is called. */
  readonly onOpened?: (provider: string) => void;
  /** Default: credentials are never treated as rejected. */
  readonly credentials?: CredentialMonitor;
  /** Default 5. */
  readonly failuresToOpen?: number;
  /** Default 60,000. */
  readonly windowMs?: number;
  /** Default 10,000. */
  readonly restMs?: number;
  /** Default 300,000. */
  readonly maxRestMs?: number;
}

/** The state of one model at one provider. */
interface ModelState extends AttemptCounts {
  readonly circuit: Circuit;
  readonly evidence: FailureEvidence;
}

interface ProviderState {
  readonly connection: Circuit;
  readonly models: Map<string, ModelState>;
}

const EVERYBODY = { accountId: null };

/** Creates a breaker with all circuits closed. */
export function createCircuitBreaker(options: CircuitBreakerOptions): ProcessCircuitBreaker {
  return new Breaker(options);
}

class Breaker implements ProcessCircuitBreaker {
  readonly #options: Required<CircuitBreakerOptions>;
  readonly #providers = new Map<string, ProviderState>();

  constructor(options: CircuitBreakerOptions) {
    const defaults = { failuresToOpen: 5, windowMs: 60_000, restMs: 10_000, maxRestMs: 300_000 };
    const credentials = options.credentials ?? UNMONITORED_CREDENTIALS;
    this.#options = { onFailure() {}, onOpened() {}, ...defaults, ...options, credentials };
  }

  availabilityOf({ provider, model }: AttemptTarget, accountId: string): Availability {
    if (this.#options.credentials.isRejected(provider, accountId)) return "misconfigured";
    const state = this.#providers.get(provider);
    const isOpen = state?.connection.isOpenFor(accountId) || state?.models.get(model)?.circuit.isOpenFor(accountId);
    return isOpen ? "resting" : "available";
  }

  onStart({ provider, model }: AttemptTarget, accountId: string): AttemptReport {
    const { connection, models } = this.#providerOf(provider);
    const state = this.#modelOf(models, model);
    state.evidence.onTraffic(accountId);
    const isConnectionProbe = connection.onStart(accountId);
    const isModelProbe = state.circuit.onStart(accountId);
    const credential = this.#options.credentials.onStart(provider, accountId);
    return new Attempt(this, { provider, connection, state, credential, accountId, isConnectionProbe, isModelProbe });
  }

  forget(provider: string): void {
    this.#providers.delete(provider);
  }

  noteOpenedElsewhere(provider: string): void {
    const { connection } = this.#providerOf(provider);
    connection.failuresInARow = Math.max(connection.failuresInARow, this.#options.failuresToOpen - 1);
  }

  noteSuccesses(target: AttemptTarget, accountId: string, count: number): void {
    this.onStart(target, accountId).succeeded();
    const model = this.#providerOf(target.provider).models.get(target.model);
    if (model !== undefined) model.succeeded += count - 1;
  }

  health(): readonly ProviderHealth[] {
    const { credentials } = this.#options;
    return [...this.#providers].map(([provider, { connection, models }]) =>
      providerHealthOf({ provider, connection, models, rejectedAt: credentials.rejectedAt(provider) })
    );
  }

  /** An attempt succeeded. */
  onSuccess({ connection, state, credential }: AttemptFacts): void {
    credential.accepted();
    state.succeeded++;
    state.evidence.clear();
    state.circuit.onSuccess();
    connection.onSuccess();
  }

  /** Tells that an attempt has failed. */
  onFailed(): void {
    this.#options.onFailure();
  }

  /** An attempt failed. */
  onFailure(facts: AttemptFacts, error: unknown): void {
    const failure = error instanceof UpstreamFailure ? error : null;
    const { connection, state, credential, accountId, isConnectionProbe, isModelProbe } = facts;
    if (failure?.blame === "credential") credential.rejected();
    else if (failure?.mayBlameCredential) credential.forbidden();
    else credential.neutral();
    if (failure?.isProvidersFault) {
      state.failed++;
      state.lastFailedAt = this.#options.clock.now();
    }
    if (failure?.blame === "connection") {
      const scope = isConnectionProbe || connection.failuresInARow + 1 >= this.#options.failuresToOpen
        ? EVERYBODY
        : null;
      const isOpened = scope !== null && connection.state === "closed";
      connection.onFailure({ isProbe: isConnectionProbe, scope, minRestMs: 0 });
      if (isOpened) this.#options.onOpened(facts.provider);
      state.circuit.onNeutral(isModelProbe);
      return;
    }
    // Any other failure means that the vendor was reached.
    if (failure !== null && failure.kind !== "cancelled") connection.onSuccess();
    else connection.onNeutral(isConnectionProbe);
    if (failure === null || failure.blame === "none") return state.circuit.onNeutral(isModelProbe);
    state.evidence.onFailure(accountId);
    // For an open circuit, one more failure decides which accounts it stays open for.
    const isOpened = isModelProbe || state.circuit.accountId !== null;
    const stillFor = state.evidence.isShared ? EVERYBODY : { accountId };
    const scope = isOpened ? stillFor : state.evidence.scope(this.#options.failuresToOpen);
    const minRestMs = (failure.facts.retryAfterSeconds ?? 0) * 1_000;
    state.circuit.onFailure({ isProbe: isModelProbe, scope, minRestMs });
  }

  #providerOf(provider: string): ProviderState {
    let state = this.#providers.get(provider);
    if (state === undefined) {
      state = { connection: new Circuit(this.#options), models: new Map() };
      this.#providers.set(provider, state);
    }
    return state;
  }

  #modelOf(models: Map<string, ModelState>, model: string): ModelState {
    let state = models.get(model);
    if (state === undefined) {
      const { clock, windowMs, failuresToOpen } = this.#options;
      const evidence = new FailureEvidence({ clock, windowMs, maxFailures: failuresToOpen });
      state = { circuit: new Circuit(this.#options), evidence, succeeded: 0, failed: 0, lastFailedAt: null };
      models.set(model, state);
    }
    return state;
  }
}

interface AttemptFacts {
  readonly provider: string;
  readonly connection: Circuit;
  readonly state: ModelState;
  readonly credential: CredentialReport;
  readonly accountId: string;
  readonly isConnectionProbe: boolean;
  readonly isModelProbe: boolean;
}

class Attempt implements AttemptReport {
  constructor(readonly breaker: Breaker, readonly facts: AttemptFacts) {}

  succeeded(): void {
    this.breaker.onSuccess(this.facts);
  }

  failed(error: unknown): void {
    this.breaker.onFailure(this.facts, error);
    this.breaker.onFailed();
  }
}
