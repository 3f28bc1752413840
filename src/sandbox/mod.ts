/** Simulated vendors on loopback: three families of wire formats, deterministic, no keys needed. */
export { type Sandbox, type SandboxOptions, simulatedAddresses, startSandbox } from "./sandbox.ts";
export type { LoggedRequest } from "./request_log.ts";
