/**
 * Runs one client of the comparison under load, in a separate process: `client_load.ts NAME PORT MODE SECONDS`. Prints
 * a {@linkcode ClientLoad} as JSON.
 */
import process from "node:process";
import { argument } from "./argument.ts";
import { bodyOf, type Mode, SMALL_BODY_BYTES } from "./load_request.ts";
import { openClient } from "./http_clients.ts";

/** The calls of a client, and their cost. */
export interface ClientLoad {
  readonly calls: number;
  readonly bytes: number;
  /** Number of chunks in which the bodies arrived. */
  readonly chunks: number;
  /** Processor time of all threads of the process. */
  readonly cpuMs: number;
}

/** The number of concurrent calls. */
const PARALLEL: Readonly<Record<Mode, number>> = { json: 32, burst: 16, paced: 64 };
const WARM_UP_MS = 1_000;
const HEADERS = {
  "accept-encoding": "identity",
  "user-agent": "switchyard",
  authorization: "Bearer sk-0123456789abcdef0123456789abcdef",
  "content-type": "application/json",
};

async function load(name: string, port: number, mode: Mode, ms: number): Promise<ClientLoad> {
  const client = openClient(name);
  const body = new TextEncoder().encode(bodyOf("chat", { model: "canned-1", mode, bytes: SMALL_BODY_BYTES }));
  const request = {
    port,
    method: "POST",
    path: `/${mode}/chat/completions`,
    headers: HEADERS,
    body,
    signal: null,
  } as const;
  const total = { calls: 0, bytes: 0, pieces: 0 };
  const onBytes = (bytes: Uint8Array) => {
    total.bytes += bytes.length;
    total.pieces++;
  };
  let isOver = false;
  const callers = Array.from({ length: PARALLEL[mode] }, async () => {
    while (!isOver) {
      const status = await client.exchange(request, onBytes);
      if (status !== 200) throw new Error(`The upstream answered ${status}`);
      total.calls++;
    }
  });
  await pause(WARM_UP_MS);
  const [before, cpuBefore] = [{ ...total }, cpuMs()];
  await pause(ms);
  const [after, cpuAfter] = [{ ...total }, cpuMs()];
  isOver = true;
  await Promise.all(callers);
  await client.close();
  return {
    calls: after.calls - before.calls,
    bytes: after.bytes - before.bytes,
    chunks: after.pieces - before.pieces,
    cpuMs: cpuAfter - cpuBefore,
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

if (import.meta.main) {
  const [, port, mode, seconds] = Deno.args;
  const name = argument(0, "the name of a client");
  console.log(JSON.stringify(await load(name, Number(port), mode as Mode, Number(seconds) * 1_000)));
}
