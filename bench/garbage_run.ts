import { fileURLToPath } from "node:url";
import { RUN_ENVIRONMENT } from "../scripts/run_flags.ts";
import { run } from "./child.ts";
import { productionCommand } from "./gateway.ts";

/** Bytes that a gateway allocates on V8's heap. */
export interface Garbage {
  /** For each JSON request of 1 KB. */
  readonly requestBytes: number;
  /** For each chunk of a stream that passes through. */
  readonly chunkBytes: number;
  /** For each chunk of a proxy in JavaScript that only hands on what it reads. */
  readonly bareChunkBytes: number;
}

/** How much is sent. */
export interface GarbageOptions {
  /** Requests, and chunks, before the measured ones. V8 compiles the code meanwhile, which allocates less then. */
  readonly warmUp: number;
  /** Measured requests, and chunks. */
  readonly count: number;
  readonly timeoutMs: number;
}

/**
 * V8 compiles a function three times, in other threads, and only the last code leaves out allocations. Until then, 60
 * seconds under load, the figures depend on when it was ready. Without the code in between, and compiled where it is
 * needed, they are those of a process that has run for long after some thousand requests.
 */
const STEADY_V8_FLAGS = "--no-maglev,--no-concurrent-recompilation";

/** Measures what the gateway allocates, in a process with the flags of production, after V8 has compiled the code. */
export async function measureGarbage({ warmUp, count, timeoutMs }: GarbageOptions): Promise<Garbage> {
  const program = fileURLToPath(new URL("./garbage.ts", import.meta.url));
  const command = [...await productionCommand(), program, String(warmUp), String(count)];
  return JSON.parse(await run(command, { env: { ...RUN_ENVIRONMENT, DENO_V8_FLAGS: STEADY_V8_FLAGS }, timeoutMs }));
}
