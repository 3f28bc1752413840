/** `@std/crypto/timing-safe-equal`, carried by the npm registry. */
// @ts-types="./timing_safe_equal.d.ts"
export * from "npm:deno-std@1.4.0/crypto/timing_safe_equal.js";
