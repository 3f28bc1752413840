/**
 * Checks that the gateway needs no more processor time for a request, relative to the bare proxy in the same run, than
 * twice what is expected: `deno task check:cpu`, about a minute. Processor time hardly depends on what else the machine
 * does, and a ratio within one run not on its speed. So only a change of the gateway, or of Deno, can fail it.
 */
import type { Scenario } from "./cases.ts";
import type { Server } from "./child.ts";
import { type Contender, contendersOf } from "./contenders.ts";
import { measure } from "./contest.ts";
import { startGateway } from "./gateway.ts";
import { type Generators, ownGenerator } from "./generator.ts";
import { processState } from "./process_state.ts";
import { newFolder, startBareProxy, startUpstream } from "./servers.ts";
import { medianOf } from "./statistics.ts";

/** A load, and the gateway's processor time under it for each microsecond of the bare proxy's. */
interface CpuBudget extends Pick<Scenario, "title" | "mode" | "bodyBytes" | "connections" | "load"> {
  readonly expected: number;
  /** Seconds of a round: long enough for a hundred ticks of 10 ms, in which the kernel counts. */
  readonly seconds: number;
  readonly rounds: number;
}

/** Measured on 2026-11-22 with Deno 2.9.6. Change an expectation only together with the reason in the commit. */
const BUDGETS: readonly CpuBudget[] = [
  {
    title: "JSON of 1 KB",
    mode: "json",
    bodyBytes: 1000,
    connections: 16,
    load: { kind: "closed" },
    expected: 2.2,
    seconds: 1.5,
    rounds: 5,
  },
  {
    title: "request of 100 KB",
    mode: "json",
    bodyBytes: 100_000,
    connections: 8,
    load: { kind: "closed" },
    expected: 3,
    seconds: 1.5,
    rounds: 5,
  },
  {
    title: "chunk of a paced stream",
    mode: "paced",
    bodyBytes: 1000,
    connections: 100,
    load: { kind: "streams" },
    expected: 2.3,
    seconds: 3,
    rounds: 3,
  },
];

/** A run fails above this multiple of the expected ratio. */
const TOLERANCE = 2;

interface CheckedServers {
  readonly generators: Generators;
  readonly bare: Contender;
  readonly gateway: Contender;
}

async function withServers<Result>(use: (servers: CheckedServers) => Promise<Result>): Promise<Result> {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-cpu-" });
  const running: Server[] = [];
  const keep = (server: Server) => (running.push(server), server);
  try {
    const upstream = keep(await startUpstream(null, folder, null));
    const bare = keep(await startBareProxy(folder, `http://127.0.0.1:${upstream.port}`, null));
    const options = { folder: await newFolder(folder, "gateway"), upstreamPort: upstream.port, core: null };
    const gateway = keep(await startGateway(options));
    const contenders = contendersOf({ upstream, bare, gateway, node: null, peers: [] });
    const contender = (id: Contender["id"]) => contenders.find((one) => one.id === id)!;
    const own = ownGenerator({ core: null, folder });
    return await use({ generators: { closed: own, timed: own }, bare: contender("bare"), gateway: contender("pass") });
  } finally {
    await Promise.all(running.map((server) => server.stop()));
    await Deno.remove(folder, { recursive: true });
  }
}

/** The median over the rounds of the gateway's processor time for each of the bare proxy's. */
async function ratioOf(budget: CpuBudget, { generators, bare, gateway }: CheckedServers): Promise<number> {
  const cpuUs = async (contender: Contender, seconds: number) => {
    const { cpuUsPerReply, replies, failures } = await measure(contender, budget, { seconds, generators });
    if (cpuUsPerReply === null || failures > 0) {
      throw new Error(`Cannot measure ${contender.label}, ${budget.title}: ${replies} replies, ${failures} failures`);
    }
    return cpuUsPerReply;
  };
  // The engines compile their hot code.
  for (const contender of [bare, gateway]) await cpuUs(contender, budget.seconds);
  const ratios: number[] = [];
  for (let round = 0; round < budget.rounds; round++) {
    const ofBare = await cpuUs(bare, budget.seconds);
    ratios.push(await cpuUs(gateway, budget.seconds) / ofBare);
  }
  return medianOf(ratios) ?? 0;
}

async function main(): Promise<number> {
  if (await processState(Deno.pid) === null) {
    console.log("check:cpu skipped: there is no /proc to read processor time from");
    return 0;
  }
  return await withServers(async (servers) => {
    let exitCode = 0;
    for (const budget of BUDGETS) {
      const ratio = await ratioOf(budget, servers);
      const limit = budget.expected * TOLERANCE;
      const isMet = ratio <= limit;
      if (!isMet) exitCode = 1;
      console.log(
        `check:cpu ${budget.title}: ${ratio.toFixed(2)} × the bare proxy's processor time, ` +
          `expected ${budget.expected}, limit ${limit}: ${isMet ? "ok" : "FAILED"}`,
      );
    }
    return exitCode;
  });
}

if (import.meta.main) Deno.exit(await main());
