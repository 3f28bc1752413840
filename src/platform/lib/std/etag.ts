/** `@std/http/etag`, carried by the npm registry. */
// @ts-types="./etag.d.ts"
export * from "npm:deno-std@1.4.0/http/etag.js";
