import { withoutCredentials } from "../../../platform/lib/text/redact.ts";
import type { Database } from "../../../platform/store/postgres/database.ts";
import { BodyCipher } from "../body_cipher.ts";
import type { BodyMessage, BodySettings } from "../messages.ts";
import type { StoredBodies } from "../request_log.ts";

/** Bodies that one statement removes. */
const BODIES_PER_STEP = 100;
const DECODER = new TextDecoder();
const ENCODER = new TextEncoder();

/** The table of captured bodies, with a retention and a size of its own. */
export class BodyTable {
  readonly #cipher: BodyCipher;

  constructor(readonly sql: Database, readonly settings: BodySettings) {
    this.#cipher = new BodyCipher(settings.secret);
  }

  /** Removes secrets from the bodies of a request, encrypts and stores them. */
  async add({ requestId, accountId, at, request, response, isCut }: BodyMessage): Promise<void> {
    const [sent = null, received = null] = [request, response].map((body) =>
      body === null ? null : this.#cipher.encrypt(cleaned(new Uint8Array(body)), requestId)
    );
    const bytes = (sent?.length ?? 0) + (received?.length ?? 0);
    await this.sql`insert into bodies
      values (${requestId}, ${accountId}, ${at}, ${bytes}, ${isCut}, ${sent}, ${received})
      on conflict (request_id) do nothing`;
  }

  /**
   * The bodies of a request; null if none are kept.
   *
   * @throws {UndecryptableError} If the operator's secret was changed.
   */
  async get(requestId: string): Promise<StoredBodies | null> {
    const [row] = await this.sql`select request, response, is_cut from bodies where request_id = ${requestId}`;
    if (row === undefined) return null;
    const textOf = (stored: Uint8Array | null) =>
      stored === null ? null : DECODER.decode(this.#cipher.decrypt(stored, requestId));
    return { request: textOf(row.request), response: textOf(row.response), isCut: row.is_cut };
  }

  /** Removes up to a hundred of an account's bodies. Returns their number. */
  async deleteOf(account: string): Promise<number> {
    const removed = await this.sql`delete from bodies where request_id in (
      select request_id from bodies where account_id = ${account} limit ${BODIES_PER_STEP})`;
    return removed.count;
  }

  /** Removes the bodies that are too old, then the oldest ones until the rest is small enough. */
  async trim(now: number): Promise<void> {
    const { retentionMs, maxBytes } = this.settings;
    // Ends when nothing is older: each step deletes.
    while (await this.#deleteUntil(now - retentionMs) === BODIES_PER_STEP);
    // Ends when nothing is left: each step deletes.
    while (await this.#usedBytes() > maxBytes && await this.#deleteUntil(now) > 0);
  }

  async #usedBytes(): Promise<number> {
    const [row] = await this.sql`select coalesce(sum(bytes), 0) as used from bodies`;
    return Number(row?.used);
  }

  async #deleteUntil(at: number): Promise<number> {
    const removed = await this.sql`delete from bodies where request_id in (
      select request_id from bodies where at <= ${at} order by at limit ${BODIES_PER_STEP})`;
    return removed.count;
  }
}

function cleaned(body: Uint8Array): Uint8Array {
  return ENCODER.encode(withoutCredentials(DECODER.decode(body)));
}
