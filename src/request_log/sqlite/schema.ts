import type { DatabaseSync } from "node:sqlite";

/**
 * The steps to the newest schema. `user_version` counts the steps that a file has taken. A step is never changed once
 * it is released; a change of the schema is another step.
 */
const STEPS: readonly string[] = [
  `CREATE TABLE requests (
    position INTEGER PRIMARY KEY,
    ended_at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    first_byte_ms INTEGER NOT NULL,
    account_id TEXT,
    key_id TEXT,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    endpoint TEXT,
    kind TEXT,
    model TEXT,
    served_model TEXT,
    provider TEXT,
    status INTEGER NOT NULL,
    code TEXT,
    message TEXT,
    outcome TEXT,
    attempts TEXT,
    dropped TEXT,
    input_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_write_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    is_estimated INTEGER,
    images INTEGER NOT NULL,
    cost INTEGER,
    request_bytes INTEGER,
    response_bytes INTEGER,
    remote TEXT NOT NULL
  ) STRICT;
  CREATE INDEX requests_by_id ON requests (request_id);
  CREATE INDEX requests_by_account ON requests (account_id, position);
  CREATE INDEX requests_by_key ON requests (key_id, position);
  CREATE INDEX requests_by_failure ON requests (status, position) WHERE status >= 400;`,
  `ALTER TABLE requests ADD COLUMN routes TEXT;
  ALTER TABLE requests ADD COLUMN charged TEXT;`,
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
