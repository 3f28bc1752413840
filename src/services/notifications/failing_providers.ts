import { type Clock, secondsOf } from "../../platform/lib/basics/clock.ts";
import { holdWork } from "../../platform/lib/basics/held.ts";
import { credentialOf, providerNameOf } from "../../platform/names/provider_name.ts";
import type { ProviderHealth } from "../../vendors/routing/provider_health.ts";
import { announce, type AnnounceParts } from "./announce.ts";
import { renewCause } from "./causes.ts";
import { errorName } from "../../platform/lib/basics/log.ts";

/** The dependencies of {@linkcode FailingProviders}. */
export interface FailingProviderParts extends AnnounceParts {
  readonly clock: Pick<Clock, "after">;
  /** The health of the providers that were used. */
  readonly health: () => readonly ProviderHealth[];
}

/**
 * When the health is looked at after a failed attempt. A rejected credential is found by a probe, which takes longer
 * than the attempt.
 */
const FIRST_LOOK_MS = 1_000;
const SECOND_LOOK_MS = 15_000;
/** While a provider fails. */
const NEXT_LOOK_MS = 60_000;
/** An outage is over when no process has found the provider failing for so long. */
const OUTAGE_OVER_MS = 15 * 60_000;

/**
 * Sends `provider.failing` when a provider cannot be used: it cannot be reached, all its circuits are open, or its
 * credential is rejected. Each process looks at its own circuits. The cause is in the store and renewed while any
 * process finds the provider failing, so an outage is one event.
 */
export class FailingProviders {
  #stopTimer: (() => void) | null = null;
  #isStopped = false;
  #looking: Promise<void> | null = null;

  constructor(private readonly parts: FailingProviderParts) {}

  /** Must be called after each failed attempt at a vendor. It costs one comparison while a look is planned. */
  noteFailure(): void {
    if (this.#stopTimer !== null || this.#isStopped) return;
    this.#plan(FIRST_LOOK_MS, SECOND_LOOK_MS);
  }

  /** Ends the looks. Resolves when none is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopTimer?.();
    await this.#looking;
  }

  /** @param laterMs When to look again if nothing was found; null for not at all. */
  #plan(delayMs: number, laterMs: number | null): void {
    this.#stopTimer = this.parts.clock.after(delayMs, () => {
      this.#looking = this.#look(laterMs);
      holdWork(this.#looking);
    });
  }

  async #look(laterMs: number | null): Promise<void> {
    const failing = this.parts.health().filter(({ state }) => state === "resting" || state === "misconfigured");
    try {
      for (const each of failing) await this.#announce(each);
    } catch (error) {
      this.parts.log.warn("notification_failed", { reason: errorName(error) });
    }
    this.#stopTimer = null;
    if (this.#isStopped) return;
    if (failing.length > 0) this.#plan(NEXT_LOOK_MS, null);
    else if (laterMs !== null) this.#plan(laterMs, null);
  }

  async #announce({ provider: id, state, rejectedAt, lastFailedAt }: ProviderHealth): Promise<void> {
    const cause = [id];
    if (await renewCause(this.parts.store, "provider.failing", { cause, ttlMs: OUTAGE_OVER_MS })) return;
    const provider = providerNameOf(id);
    const reason = state === "misconfigured" ? "credential_rejected" : "unavailable";
    const since = rejectedAt ?? lastFailedAt;
    await announce(this.parts, {
      event: "provider.failing",
      cause,
      causeTtlMs: OUTAGE_OVER_MS,
      account: null,
      data: { provider, credential: credentialOf(id), reason, since: since === null ? null : secondsOf(since) },
      logged: { provider: id, reason },
    });
  }
}
