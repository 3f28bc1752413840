import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { VERSION } from "../src/entry/cli/version.ts";
import { medianOf } from "./statistics.ts";

/** The machine of a run, on which its figures depend. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly deno: string;
  readonly switchyard: string;
  /** Milliseconds that the disk needs to make 4 KB durable: the minimum for each charge. */
  readonly fsyncMs: number;
}

/** Describes this machine; `folder` is where the gateway's store will be. */
export async function describeMachine(folder: string): Promise<Machine> {
  const [first] = cpus();
  return {
    cpu: first?.model.trim() ?? "unknown",
    cores: navigator.hardwareConcurrency,
    memoryBytes: totalmem(),
    system: `${await distribution()}, ${Deno.build.os} ${Deno.osRelease()} ${Deno.build.arch}`,
    deno: Deno.version.deno,
    switchyard: VERSION,
    fsyncMs: await fsyncMs(folder),
  };
}

const FSYNC_ROUNDS = 100;

async function fsyncMs(folder: string): Promise<number> {
  const path = join(folder, "fsync-probe");
  const spans: number[] = [];
  const block = new Uint8Array(4096);
  using file = await Deno.open(path, { create: true, write: true });
  for (let round = 0; round < FSYNC_ROUNDS; round++) {
    file.writeSync(block);
    const from = performance.now();
    file.syncDataSync();
    spans.push(performance.now() - from);
  }
  await Deno.remove(path);
  return medianOf(spans) ?? 0;
}

async function distribution(): Promise<string> {
  try {
    return /^PRETTY_NAME="(.*)"$/m.exec(await Deno.readTextFile("/etc/os-release"))?.[1] ?? "Linux";
  } catch {
    return Deno.build.os;
  }
}
