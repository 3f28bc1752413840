import type { DatabaseSync } from "node:sqlite";

/**
 * The positions after the arrival of a request in which its row is found without an index: those of two seconds. A
 * released step contains the number.
 */
export const QUICK_POSITIONS = 2_000_000;

/**
 * The steps to the newest schema. `user_version` counts the steps that a file has taken. A step is never changed once
 * it is released; a change of the schema is another step.
 */
const STEPS: readonly string[] = [
  `CREATE TABLE requests (
    position INTEGER PRIMARY KEY,
    ended_at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    account_id TEXT,
    key_id TEXT,
    model TEXT,
    served_model TEXT,
    provider TEXT,
    status INTEGER NOT NULL,
    code TEXT,
    message TEXT,
    attempts TEXT,
    facts TEXT NOT NULL
  ) STRICT;
  CREATE INDEX requests_by_id ON requests (request_id);
  CREATE INDEX requests_by_account ON requests (account_id, position);
  CREATE INDEX requests_by_failure ON requests (status, position) WHERE status >= 400;
  CREATE TABLE keys (key_id TEXT PRIMARY KEY, account_id TEXT) STRICT, WITHOUT ROWID;`,
  // An index of all ids makes every write longer. The id of a request begins with its arrival.
  `ALTER TABLE requests ADD COLUMN is_slow INTEGER;
  UPDATE requests SET is_slow = 1
    WHERE position - 1000 * CAST(facts ->> 0 AS INTEGER) NOT BETWEEN 0 AND ${QUICK_POSITIONS - 1};
  DROP INDEX requests_by_id;
  CREATE INDEX requests_by_slow_id ON requests (request_id) WHERE is_slow = 1;`,
  // A search for a text reads this index alone. It has few rows: those of errors. The condition is that of search.ts.
  `CREATE INDEX requests_by_text ON requests (position, request_id, message, attempts)
    WHERE (status >= 400 OR message IS NOT NULL OR instr(attempts, '],[') > 0);`,
];

/** The file was written by a later version. */
export class LaterSchemaError extends Error {
  override readonly name = "LaterSchemaError";
}

/**
 * Brings a file to the newest schema, each step in a transaction.
 *
 * @throws {LaterSchemaError}
 */
export function migrate(database: DatabaseSync): void {
  const taken = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  if (taken > STEPS.length) {
    throw new LaterSchemaError(`The request log has schema ${taken}, and this version reads up to ${STEPS.length}`);
  }
  for (const [index, step] of STEPS.entries()) {
    if (index < taken) continue;
    database.exec(`BEGIN IMMEDIATE; ${step} PRAGMA user_version = ${index + 1}; COMMIT`);
  }
}
