import { DatabaseSync } from "node:sqlite";
import { withoutCredentials } from "../../../platform/lib/text/redact.ts";
import type { BodyMessage, BodySettings } from "../messages.ts";
import type { StoredBodies } from "../request_log.ts";
import { BodyCipher } from "../body_cipher.ts";

const SCHEMA = `CREATE TABLE IF NOT EXISTS bodies (
  request_id TEXT PRIMARY KEY,
  account_id TEXT,
  at INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  is_cut INTEGER NOT NULL,
  request BLOB,
  response BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS bodies_by_time ON bodies (at);
CREATE INDEX IF NOT EXISTS bodies_by_account ON bodies (account_id);`;

/** Bodies that one statement removes: a few milliseconds. */
const BODIES_PER_STEP = 100;
const BUSY_MS = 2_000;
const DECODER = new TextDecoder();
const ENCODER = new TextEncoder();

/**
 * The file of captured bodies, apart from the log, with a retention and a size of its own. Removed bodies are
 * overwritten. All calls block; it belongs into a thread.
 */
export class BodyFile {
  readonly #database: DatabaseSync;
  readonly #cipher: BodyCipher;

  /**
   * Opens the file, and creates it if it is missing.
   *
   * @throws {Error} If it cannot be opened or is damaged.
   */
  constructor(readonly settings: BodySettings & { readonly path: string }) {
    this.#cipher = new BodyCipher(settings.secret);
    this.#database = new DatabaseSync(settings.path, { timeout: BUSY_MS });
    this.#database.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    this.#database.exec("PRAGMA secure_delete = ON");
    this.#database.exec(SCHEMA);
  }

  /** Removes secrets from the bodies of a request, encrypts and stores them. */
  add({ requestId, accountId, at, request, response, isCut }: BodyMessage): void {
    const [sent, received] = [request, response].map((body) =>
      body === null ? null : this.#cipher.encrypt(cleaned(new Uint8Array(body)), requestId)
    );
    this.#database.prepare("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?, ?, ?, ?, ?)")
      .run(
        requestId,
        accountId,
        at,
        (sent?.length ?? 0) + (received?.length ?? 0),
        isCut ? 1 : 0,
        sent ?? null,
        received ?? null,
      );
  }

  /**
   * The bodies of a request; null if none are kept.
   *
   * @throws {UndecryptableError} If the operator's secret was changed.
   */
  get(requestId: string): StoredBodies | null {
    const row = this.#database.prepare("SELECT request, response, is_cut FROM bodies WHERE request_id = ?").get(
      requestId,
    );
    if (row === undefined) return null;
    const textOf = (stored: unknown) =>
      stored === null ? null : DECODER.decode(this.#cipher.decrypt(stored as Uint8Array, requestId));
    return { request: textOf(row.request), response: textOf(row.response), isCut: row.is_cut === 1 };
  }

  /** Removes up to a hundred of an account's bodies. Returns their number. */
  deleteOf(account: string): number {
    return this.#delete("account_id = ?", account);
  }

  /** Removes some of the bodies that are too old or too many. Returns whether more are left to remove. */
  trim(now: number): boolean {
    const { retentionMs, maxBytes } = this.settings;
    if (this.#delete("at < ?", now - retentionMs) === BODIES_PER_STEP) return true;
    const used = Number(this.#database.prepare("SELECT coalesce(sum(bytes), 0) AS used FROM bodies").get()?.used);
    return used > maxBytes && this.#delete("at <= ?", now) > 0;
  }

  /** Moves what the write-ahead log holds to the file, and gives unused pages back. */
  checkpoint(): void {
    this.#database.exec("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** Closes the file. */
  close(): void {
    this.#database.close();
  }

  #delete(sql: string, value: string | number): number {
    const statement = this.#database.prepare(
      `DELETE FROM bodies WHERE request_id IN (SELECT request_id FROM bodies WHERE ${sql} ORDER BY at LIMIT ?)`,
    );
    return Number(statement.run(value, BODIES_PER_STEP).changes);
  }
}

function cleaned(body: Uint8Array): Uint8Array {
  return ENCODER.encode(withoutCredentials(DECODER.decode(body)));
}
