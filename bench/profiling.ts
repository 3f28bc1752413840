import { join } from "node:path";
import { type ScenarioId, SCENARIOS } from "./cases.ts";
import { type ContenderId, contendersOf, type Servers, translationsOf } from "./contenders.ts";
import { measure } from "./contest.ts";
import { type GatewayOptions, startProfiledGateway } from "./gateway.ts";
import type { Generators } from "./generator.ts";
import { type CpuProfile, type TimeSpent, timeSpent } from "./profile.ts";

/** The distribution of the gateway's time under one load. */
export interface LoadProfile {
  readonly id: ProfileId;
  readonly title: string;
  readonly spent: TimeSpent;
}

/** Short names of the profiled loads. */
export type ProfileId = "json" | "body" | "burst" | "paced" | "translation";

const LOADS: readonly {
  readonly id: ProfileId;
  readonly title: string;
  readonly contender: ContenderId;
  readonly scenario: ScenarioId;
}[] = [
  { id: "json", title: "JSON of 1 KB, 32 connections", contender: "pass", scenario: "json_32" },
  { id: "body", title: "Request of 100 KB, 16 connections", contender: "pass", scenario: "body_100k" },
  { id: "burst", title: "Streams sent at once, 16 connections", contender: "pass", scenario: "translate_burst" },
  { id: "paced", title: "100 paced streams", contender: "pass", scenario: "paced" },
  {
    id: "translation",
    title: "JSON of 1 KB, messages to chat, 32 connections",
    contender: "messages-chat",
    scenario: "translate_json",
  },
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
  const contenders = [...contendersOf({ ...servers, gateway: profiled }), ...translationsOf(profiled)];
  const results: LoadProfile[] = [];
  try {
    for (const { id, title, contender: contenderId, scenario } of LOADS) {
      const contender = contenders.find((one) => one.id === contenderId)!;
      const load = SCENARIOS.find((one) => one.id === scenario)!;
      await measure(contender, load, { ...options, seconds: 1 });
      await profiled.writeLine("start");
      await measure(contender, load, options);
      const path = join(gateway.folder, `${id}.cpuprofile`);
      await profiled.writeLine(`stop ${id}`);
      results.push({ id, title, spent: timeSpent(await profileAt(path)) });
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
