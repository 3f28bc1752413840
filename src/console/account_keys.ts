import type { Clock } from "../platform/lib/basics/clock.ts";

/** A key that the console has issued, and its end. */
export interface AccountKey {
  readonly secret: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** An operator who sends requests as an account. */
export interface Acting {
  /** The name of the admin key. */
  readonly operator: string;
  readonly account: string;
}

/**
 * A key is replaced this long before its end: no batch outlives the key that created it, since its lines fail with that
 * key. A batch lasts 24 hours. So does a video, unless `limits.video_deadline` is longer.
 */
const RENEWED_BEFORE_MS = 25 * 3_600_000;
/** A day of use, and what is created at its end. */
const LIFETIME_MS = RENEWED_BEFORE_MS + 24 * 3_600_000;
/** The oldest is dropped. It stays valid until its end, but nobody has its secret. */
const MAX_KEYS = 1_000;

/**
 * API keys by which operators send requests as an account, one for each operator and account. The secrets are in memory
 * only, and never leave the gateway.
 */
export class AccountKeys {
  readonly #keys = new Map<string, Promise<AccountKey>>();

  constructor(readonly clock: Pick<Clock, "now">) {}

  /**
   * The secret of the key of an operator for an account.
   *
   * @param issue Issues a key that ends at an instant in Unix milliseconds, and resolves with its secret.
   */
  async secretFor(acting: Acting, issue: (expiresAt: number) => Promise<string>): Promise<string> {
    const name = nameOf(acting);
    const known = this.#keys.get(name);
    if (known !== undefined) {
      const { secret, expiresAt } = await known;
      if (expiresAt - this.clock.now() > RENEWED_BEFORE_MS) return secret;
      // Another request may have renewed it meanwhile.
      if (this.#keys.get(name) === known) this.#keys.delete(name);
    }
    return (await (this.#keys.get(name) ?? this.#issue(name, issue))).secret;
  }

  /** Drops a key that the gateway no longer accepts. The next request gets a new one. */
  drop(acting: Acting): void {
    this.#keys.delete(nameOf(acting));
  }

  /** Requests at the same time share one key. A failure is not kept. */
  #issue(name: string, issue: (expiresAt: number) => Promise<string>): Promise<AccountKey> {
    const [oldest = name] = this.#keys.keys();
    if (this.#keys.size >= MAX_KEYS) this.#keys.delete(oldest);
    const expiresAt = this.clock.now() + LIFETIME_MS;
    const key = issue(expiresAt).then((secret) => ({ secret, expiresAt }));
    this.#keys.set(name, key);
    key.catch(() => {
      if (this.#keys.get(name) === key) this.#keys.delete(name);
    });
    return key;
  }
}

/** Neither names of admin keys nor ids of accounts contain a line end. */
function nameOf({ operator, account }: Acting): string {
  return `${operator}\n${account}`;
}
