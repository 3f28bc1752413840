import { join } from "node:path";
import type { Mode } from "./load_request.ts";
import { type ContenderId, contendersOf, type Servers } from "./contenders.ts";
import { type Generators, measure } from "./contest.ts";
import { type GatewayOptions, startProfiledGateway } from "./gateway.ts";
import { type CpuProfile, type TimeSpent, timeSpent } from "./profile.ts";

/** The distribution of the gateway's time under one load. */
export interface LoadProfile {
  readonly title: string;
  readonly spent: TimeSpent;
}

const LOADS: readonly {
  readonly title: string;
  readonly id: ContenderId;
  readonly mode: Mode;
  readonly connections: number;
}[] = [
  { title: "JSON, chat passed through, 32 connections", id: "pass", mode: "json", connections: 32 },
  { title: "Streams sent at once, chat passed through, 16 connections", id: "pass", mode: "burst", connections: 16 },
  { title: "Paced streams, chat passed through, 40 at once", id: "pass", mode: "paced", connections: 40 },
  { title: "JSON, messages to chat, 32 connections", id: "messages", mode: "json", connections: 32 },
  { title: "Streams sent at once, messages to chat, 16 connections", id: "messages", mode: "burst", connections: 16 },
];

/**
 * Runs a gateway with a profiler inside under several loads, each after a warm-up. Throws when a profile is missing.
 */
export async function profileGateway(
  gateway: GatewayOptions,
  servers: Servers,
  options: { readonly seconds: number; readonly generators: Generators },
): Promise<LoadProfile[]> {
  const profiled = await startProfiledGateway(gateway);
  const contenders = contendersOf({ ...servers, gateway: profiled });
  const results: LoadProfile[] = [];
  try {
    for (const [index, { title, id, mode, connections }] of LOADS.entries()) {
      const contender = contenders.find((one) => one.id === id)!;
      const load = { mode, connections, looksInside: mode === "paced" };
      await measure(contender, load, { ...options, seconds: 1 });
      await profiled.writeLine("start");
      await measure(contender, load, options);
      const path = join(gateway.folder, `${index}.cpuprofile`);
      await profiled.writeLine(`stop ${index}`);
      results.push({ title, spent: timeSpent(await profileAt(path)) });
    }
  } finally {
    await profiled.stop();
  }
  return results;
}

const PATIENCE_MS = 30_000;

async function profileAt(path: string): Promise<CpuProfile> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
    try {
      return JSON.parse(await Deno.readTextFile(path));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("Cannot read the gateway's profile: it was not written in time");
}
