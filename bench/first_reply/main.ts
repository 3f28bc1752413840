/**
 * Measures the way from nothing to the first reply for Switchyard and other gateways: seconds, disk and memory; writes
 * `bench/RESULTS-first-reply.md`. Packages come from the registries that npm and pip are configured with.
 *
 *     deno task bench:first-reply     about ten minutes; also --rounds N
 */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { describeMachine } from "../machine.ts";
import { figure, mebibytes, table } from "../markdown.ts";
import { medianOf } from "../statistics.ts";
import type { Installation } from "./installation.ts";
import { type FirstReply, measureFirstReply } from "./measure.ts";
import { BIFROST_GATEWAY, LITELLM_PROXY, PORTKEY_GATEWAY } from "./peers.ts";
import { SWITCHYARD_CLONE, SWITCHYARD_PACKAGE } from "./switchyard.ts";

const RESULTS = fileURLToPath(new URL("../RESULTS-first-reply.md", import.meta.url));

const INSTALLATIONS: readonly Installation[] = [
  SWITCHYARD_CLONE,
  SWITCHYARD_PACKAGE,
  LITELLM_PROXY,
  PORTKEY_GATEWAY,
  BIFROST_GATEWAY,
];

const REPLY = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_767_225_600,
  model: "canned-1",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, logprobs: null, finish_reason: "stop" }],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
};

/** The figures of an installation, or why it has none. */
interface Outcome {
  readonly installation: Installation;
  readonly figures: FirstReply | string;
}

/** The median of each figure. */
function medians(rounds: readonly FirstReply[]): FirstReply {
  const of = (read: (round: FirstReply) => number | null) =>
    medianOf(rounds.flatMap((round) => read(round) ?? [])) ?? null;
  return {
    installSeconds: of((round) => round.installSeconds) ?? 0,
    startSeconds: of((round) => round.startSeconds) ?? 0,
    restartSeconds: of((round) => round.restartSeconds) ?? 0,
    diskBytes: of((round) => round.diskBytes) ?? 0,
    cacheBytes: of((round) => round.cacheBytes) ?? 0,
    memoryBytes: of((round) => round.memoryBytes),
  };
}

async function measureAll(upstreamPort: number, rounds: number): Promise<Outcome[]> {
  const found = new Map<Installation, FirstReply[]>();
  const failures = new Map<Installation, string>();
  for (let round = 1; round <= rounds; round++) {
    for (const installation of INSTALLATIONS) {
      if (failures.has(installation)) continue;
      console.error(`round ${round} of ${rounds}: ${installation.label}`);
      const figures = await measureFirstReply(installation, upstreamPort);
      if (typeof figures === "string") failures.set(installation, figures);
      else found.set(installation, [...found.get(installation) ?? [], figures]);
    }
  }
  return INSTALLATIONS.map((installation) => ({
    installation,
    figures: failures.get(installation) ?? medians(found.get(installation) ?? []),
  }));
}

async function report(outcomes: readonly Outcome[], rounds: number): Promise<string> {
  const measured = outcomes.flatMap(({ installation, figures }) =>
    typeof figures === "string" ? [] : [{ installation, figures }]
  );
  const rows = measured.map(({ installation: { label, commands, vendor }, figures }) => [
    label,
    `\`${commands}\``,
    vendor,
    figure(figures.installSeconds + figures.startSeconds, 1),
    figure(figures.installSeconds, 1),
    figure(figures.startSeconds, 1),
    figure(figures.restartSeconds, 1),
    mebibytes(figures.diskBytes),
    mebibytes(figures.cacheBytes),
    mebibytes(figures.memoryBytes),
  ]);
  const head = ["", "Commands", "Vendor", "Seconds to the first reply", "… installing", "… first start"];
  const left = outcomes.flatMap(({ installation: { label }, figures }) =>
    typeof figures === "string" ? [`- ${label} was left out: ${figures}.`] : []
  );
  const machine = await describeMachine(await Deno.makeTempDir({ prefix: "first-reply-disk-" }));
  return [
    "# From nothing to the first reply",
    `${rounds === 1 ? "One round" : `Medians of ${rounds} rounds`} on ${
      new Date().toISOString().slice(0, 10)
    }: an empty folder, empty caches of Deno, ` +
    "npm and pip, and the commands that each project's own introduction gives. Git, Node and Python are there before.",
    table([...head, "second start, s", "Disk, MiB", "… of it caches, MiB", "Memory, MiB"], rows),
    ...(left.length === 0 ? [] : [left.join("\n")]),
    "Disk is everything below the folder after two starts. Memory is the resident memory of the gateway's process a " +
    "minute after its first reply, without the package runner that started it. The downloads depend on the network, so " +
    "seconds of installing compare within this run only. Each gateway has one model; those with the vendor on loopback " +
    "use the same one. `task dev` simulates vendors within its process.",
    `${machine.cpu}, ${machine.cores} cores, ${mebibytes(machine.memoryBytes)} MiB; ${machine.system}; Deno ` +
    `${machine.deno}; Switchyard ${machine.switchyard}. Run with \`deno task bench:first-reply\`.`,
  ].join("\n\n") + "\n";
}

const { values } = parseArgs({ options: { rounds: { type: "string", default: "3" } } });
const rounds = Number(values.rounds);
await using upstream = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => Response.json(REPLY));
await Deno.writeTextFile(RESULTS, await report(await measureAll(upstream.addr.port, rounds), rounds));
await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", RESULTS] }).output();
console.log(await Deno.readTextFile(RESULTS));
