import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { type HashSecret, keyedHash, newHashSecret, type PrefixDigest } from "./prefix_hash.ts";

/** Where a prefix was sent last. */
export interface SeenPrefix {
  /** The provider by its id, with the credential if it has several. */
  readonly provider: string;
  /** Milliseconds since then. */
  readonly ageMs: number;
}

interface Sighting {
  readonly provider: string;
  readonly at: number;
}

/** What an account's requests share: the account, and the model by its name in the catalog. */
export interface PrefixScope {
  readonly accountId: string;
  readonly model: string;
}

/** Sightings of one account. An agent adds two for each turn. */
const MAX_OF_ACCOUNT = 4_096;
/** Sightings of all accounts: about ten megabytes. */
const MAX_OF_ALL = 100_000;

/**
 * Remembers which prompts were sent to which provider, as keyed hashes, each thread for itself. What is forgotten costs
 * a mark or a warm provider and nothing else.
 */
export class PrefixMemory {
  readonly #accounts = new Map<string, Map<string, Sighting>>();
  readonly #secret: HashSecret = newHashSecret();
  #size = 0;

  constructor(private readonly clock: Pick<Clock, "monotonicMs">) {}

  /** The number of sightings. */
  get size(): number {
    return this.#size;
  }

  /** Returns where a prefix was sent last; null if that is not known. */
  find({ accountId, model }: PrefixScope, prefix: PrefixDigest): SeenPrefix | null {
    const found = this.#accounts.get(accountId)?.get(this.#nameOf(model, prefix));
    return found === undefined ? null : { provider: found.provider, ageMs: this.clock.monotonicMs() - found.at };
  }

  /** Notes that prefixes were sent to a provider. */
  note({ accountId, model }: PrefixScope, prefixes: readonly PrefixDigest[], provider: string): void {
    const seen = this.#accounts.get(accountId) ?? new Map<string, Sighting>();
    // Of accounts and of sightings, those that were used last are at the end.
    this.#accounts.delete(accountId);
    this.#accounts.set(accountId, seen);
    const sighting = { provider, at: this.clock.monotonicMs() };
    for (const prefix of prefixes) {
      const name = this.#nameOf(model, prefix);
      if (seen.delete(name)) this.#size--;
      seen.set(name, sighting);
      this.#size++;
      if (seen.size > MAX_OF_ACCOUNT) this.#removeFirst(seen);
    }
    while (this.#size > MAX_OF_ALL) this.#removeFirstAccount();
  }

  #nameOf(model: string, prefix: PrefixDigest): string {
    return `${model} ${keyedHash(prefix, this.#secret)}`;
  }

  #removeFirst(seen: Map<string, Sighting>): void {
    for (const name of seen.keys()) {
      seen.delete(name);
      this.#size--;
      return;
    }
  }

  #removeFirstAccount(): void {
    for (const [accountId, seen] of this.#accounts) {
      this.#accounts.delete(accountId);
      this.#size -= seen.size;
      return;
    }
  }
}
