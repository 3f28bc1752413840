/** `@std/http/status`, carried by the npm registry. */
// @ts-types="./status.d.ts"
export { STATUS_CODE } from "npm:deno-std@1.4.0/http/status.js";
