/** A simulated vendor world on loopback: three families of wire forms, deterministic, no keys needed. */
export { type Sandbox, type SandboxOptions, startSandbox } from "./sandbox.ts";
export type { SeenRequest } from "./seen.ts";
