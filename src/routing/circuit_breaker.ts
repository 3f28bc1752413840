import type { Clock } from "../lib/clock.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";
import { Circuit } from "./circuit.ts";
import { type CredentialMonitor, UNMONITORED_CREDENTIALS } from "./credential_monitor.ts";
import { FailureEvidence } from "./failure_evidence.ts";
import { type AttemptCounts, type ProviderHealth, providerHealthOf } from "./provider_health.ts";

/** What an attempt goes to. */
export interface AttemptTarget {
  /** The provider's configured name. */
  readonly provider: string;
  /** The vendor's name of the model there. */
  readonly model: string;
}

/**
 * Which providers are to be passed over, from how attempts ended.
 *
 * Each provider has a circuit for its connections. Failures to connect open it, `failuresToOpen` in a row, for all
 * models and accounts: no caller can cause them. Each model of a provider has a circuit for everything else that a
 * caller may have caused (time-outs, resets, 429, 5xx). It opens when two accounts saw the failures within `windowMs`.
 * When one account saw them and was all the traffic there was, it opens for that account alone. See {@linkcode Circuit}
 * for rests and probes. Memory is bounded by the configuration: nothing is kept per account or per request.
 */
export interface CircuitBreaker {
  /** Whether the account's requests are served there, should go elsewhere, or cannot be served there. */
  availabilityOf(target: AttemptTarget, accountId: string): Availability;
  /** An attempt starts; at the end of a rest it is the probe. */
  onStart(target: AttemptTarget, accountId: string): AttemptReport;
  /** For the operator: every provider that was tried since the start. */
  health(): readonly ProviderHealth[];
}

/** `resting`: to be tried when no other is left. `misconfigured`: the vendor rejects the provider's credential. */
export type Availability = "available" | "resting" | "misconfigured";

/** How one attempt ended; exactly one of the two is called, once. */
export interface AttemptReport {
  /** The provider answered. */
  succeeded(): void;
  /** Reads what the failure says about the provider. Errors that are no {@linkcode UpstreamFailure} say nothing. */
  failed(error: unknown): void;
}

/** Settings; times in milliseconds. */
export interface CircuitBreakerOptions {
  readonly clock: Clock;
  /** Default: no credential is ever taken as rejected. */
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

/** The state that is kept of one model at one provider. */
interface ModelState extends AttemptCounts {
  readonly circuit: Circuit;
  readonly evidence: FailureEvidence;
}

interface ProviderState {
  readonly connection: Circuit;
  readonly models: Map<string, ModelState>;
}

const EVERYBODY = { accountId: null };

/** Makes a breaker in which every circuit is closed. */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  return new Breaker(options);
}

class Breaker implements CircuitBreaker {
  readonly #options: Required<CircuitBreakerOptions>;
  readonly #providers = new Map<string, ProviderState>();

  constructor(options: CircuitBreakerOptions) {
    const defaults = { failuresToOpen: 5, windowMs: 60_000, restMs: 10_000, maxRestMs: 300_000 };
    const credentials = options.credentials ?? UNMONITORED_CREDENTIALS;
    this.#options = { ...defaults, ...options, credentials };
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
    const attempt = {
      accountId,
      isConnectionProbe: connection.onStart(accountId),
      isModelProbe: state.circuit.onStart(accountId),
    };
    const credential = this.#options.credentials.onStart(provider, accountId);
    return {
      succeeded: () => {
        credential.accepted();
        this.#onSuccess(connection, state);
      },
      failed: (error) => {
        const blame = error instanceof UpstreamFailure ? error.blame : "none";
        if (blame === "credential") credential.rejected();
        else credential.neutral();
        this.#onFailure(connection, state, attempt, error);
      },
    };
  }

  health(): readonly ProviderHealth[] {
    const { credentials } = this.#options;
    return [...this.#providers].map(([provider, { connection, models }]) =>
      providerHealthOf({ provider, connection, models, rejectedAt: credentials.rejectedAt(provider) })
    );
  }

  #onSuccess(connection: Circuit, state: ModelState): void {
    state.succeeded++;
    state.evidence.clear();
    state.circuit.onSuccess();
    connection.onSuccess();
  }

  #onFailure(connection: Circuit, state: ModelState, attempt: Attempt, error: unknown): void {
    const failure = error instanceof UpstreamFailure ? error : null;
    const { accountId, isConnectionProbe, isModelProbe } = attempt;
    if (failure?.isProvidersFault) {
      state.failed++;
      state.lastFailedAt = this.#options.clock.now();
    }
    if (failure?.blame === "connection") {
      const scope = isConnectionProbe || connection.failuresInARow + 1 >= this.#options.failuresToOpen
        ? EVERYBODY
        : null;
      connection.onFailure({ isProbe: isConnectionProbe, scope, minRestMs: 0 });
      state.circuit.onNeutral(isModelProbe);
      return;
    }
    // Whatever else the vendor did, it was reached.
    if (failure !== null && failure.kind !== "cancelled") connection.onSuccess();
    else connection.onNeutral(isConnectionProbe);
    if (failure === null || failure.blame === "none") return state.circuit.onNeutral(isModelProbe);
    state.evidence.onFailure(accountId);
    // Of a circuit that was opened already, one failure more tells for whom it is to stay open.
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

interface Attempt {
  readonly accountId: string;
  readonly isConnectionProbe: boolean;
  readonly isModelProbe: boolean;
}
