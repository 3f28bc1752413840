import type { StoreLimits } from "../store.ts";

/**
 * What the PostgreSQL engine takes. The database takes more: these bound the memory and the duration of one statement.
 */
export const POSTGRES_LIMITS: StoreLimits = {
  maxValueBytes: 1024 * 1024,
  maxKeyBytes: 1024,
  maxChecks: 500,
  maxWrites: 4_000,
  maxCommitBytes: 8 * 1024 * 1024,
  maxCommitKeyBytes: 512 * 1024,
  maxKeysPerRead: 100,
};
