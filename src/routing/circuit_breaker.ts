import type { Clock } from "../lib/clock.ts";

/**
 * A circuit breaker for each provider.
 *
 * `closed`: requests pass; `failuresToOpen` failures in a row open it. `open`: the provider rests and is tried only when no
 * other is left; after the rest it is `half_open`. `half_open`: one request is let through as a probe, the provider still
 * counts as resting for all others; success closes the circuit, failure opens it again for twice as long, up to
 * `longestRestMs`. A success at any time closes it.
 */
export interface CircuitBreaker {
  /** Whether the provider should be passed over. */
  isResting(provider: string): boolean;
  /** An attempt begins; at the end of a rest it is the probe. Each is followed by one of the three below. */
  begins(provider: string): void;
  succeeded(provider: string): void;
  failed(provider: string): void;
  /** The attempt ended without a word about the provider: the caller left, or the request was at fault. */
  saidNothing(provider: string): void;
  /** For the operator: every provider that an attempt said something about since the start. */
  health(): readonly ProviderHealth[];
}

/** One provider's circuit, and what attempts came to since the start. */
export interface ProviderHealth {
  readonly provider: string;
  readonly state: "closed" | "open" | "half_open";
  readonly failuresInARow: number;
  /** Unix milliseconds when the rest ends; null while closed. */
  readonly restsUntil: number | null;
  /** Attempts that the provider answered. */
  readonly succeeded: number;
  /** Attempts that failed by its fault. */
  readonly failed: number;
  /** Unix milliseconds; null when none failed. */
  readonly lastFailedAt: number | null;
}

/** Settings; times in milliseconds. */
export interface CircuitBreakerOptions {
  readonly clock: Clock;
  /** Default 5. */
  readonly failuresToOpen?: number;
  /** Default 10,000. */
  readonly restMs?: number;
  /** Default 300,000. */
  readonly longestRestMs?: number;
}

interface Circuit {
  failures: number;
  restMs: number;
  restsUntil: number | null;
  probing: boolean;
  succeeded: number;
  failed: number;
  lastFailedAt: number | null;
}

/** Makes a breaker in which every circuit is closed. */
export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { clock, failuresToOpen = 5, restMs = 10_000, longestRestMs = 300_000 } = options;
  const circuits = new Map<string, Circuit>();

  function circuitOf(provider: string): Circuit {
    let circuit = circuits.get(provider);
    if (circuit === undefined) {
      circuit = { failures: 0, restMs, restsUntil: null, probing: false, succeeded: 0, failed: 0, lastFailedAt: null };
      circuits.set(provider, circuit);
    }
    return circuit;
  }

  function open(circuit: Circuit): void {
    circuit.restsUntil = clock.now() + circuit.restMs;
    circuit.restMs = Math.min(circuit.restMs * 2, longestRestMs);
    circuit.probing = false;
  }

  function close(circuit: Circuit): void {
    circuit.failures = 0;
    circuit.restMs = restMs;
    circuit.restsUntil = null;
    circuit.probing = false;
  }

  return {
    isResting(provider) {
      const circuit = circuits.get(provider);
      if (!circuit || circuit.restsUntil === null) return false;
      return circuit.probing || clock.now() < circuit.restsUntil;
    },
    begins(provider) {
      const circuit = circuits.get(provider);
      if (circuit && circuit.restsUntil !== null && clock.now() >= circuit.restsUntil) circuit.probing = true;
    },
    succeeded(provider) {
      const circuit = circuitOf(provider);
      circuit.succeeded++;
      if (circuit.failures > 0) close(circuit);
    },
    failed(provider) {
      const circuit = circuitOf(provider);
      circuit.failures++;
      circuit.failed++;
      circuit.lastFailedAt = clock.now();
      if (circuit.restsUntil !== null || circuit.failures >= failuresToOpen) open(circuit);
    },
    saidNothing(provider) {
      const circuit = circuits.get(provider);
      if (circuit) circuit.probing = false;
    },
    health() {
      return [...circuits].map(([provider, { failures, restsUntil, probing, succeeded, failed, lastFailedAt }]) => ({
        provider,
        state: restsUntil === null ? "closed" : probing || clock.now() >= restsUntil ? "half_open" : "open",
        failuresInARow: failures,
        restsUntil,
        succeeded,
        failed,
        lastFailedAt,
      }));
    },
  };
}
