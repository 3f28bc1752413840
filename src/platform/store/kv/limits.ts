import type { StoreLimits } from "../store.ts";

/**
 * What the Deno KV engine takes. The limits of Deno KV itself are 65,536 bytes per value, 2,048 bytes per key and, for
 * one atomic write, 100 checks, 1,000 mutations, 819,200 bytes and 81,920 bytes of keys; one read takes 10 keys. The
 * difference is room for what this engine adds to each.
 */
export const KV_LIMITS: StoreLimits = {
  maxValueBytes: 60 * 1024,
  maxKeyBytes: 1024,
  maxChecks: 100,
  maxWrites: 900,
  maxCommitBytes: 700 * 1024,
  maxCommitKeyBytes: 72 * 1024,
  maxKeysPerRead: 10,
};
