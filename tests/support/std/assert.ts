/** `@std/assert`, carried by the npm registry. */
// @ts-types="./assert.d.ts"
export * from "npm:deno-std@1.4.0/assert/mod.js";
