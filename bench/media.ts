/**
 * Measures images, videos, webhooks and cached contents on this machine in one run; writes `bench/RESULTS-media.md`.
 *
 *     deno run -A bench/media.ts
 */
import { fileURLToPath } from "node:url";
import { benchCaches, writeCacheReport } from "./caches.ts";
import { benchFleet, writeFleetReport } from "./fleet.ts";
import { benchHangingCreates, writeHangingReport } from "./hanging_creates.ts";
import { benchImages, type ImageFigures } from "./images.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { figure, mebibytes, percent, table } from "./markdown.ts";
import { benchPolls, type PollFigures, writePollReport } from "./polls.ts";
import { benchTaskBytes, writeTaskBytesReport } from "./task_bytes.ts";
import { benchVideos, type VideoBenchResult } from "./videos.ts";
import {
  benchSharedHost,
  benchWebhooks,
  type WebhookFigures,
  writeSharedHostReport,
  writeWebhookReport,
} from "./webhooks.ts";

/** Rates and seconds: below the target, at the target for long, and above it. */
const WEBHOOK_RUNS = [[300, 10], [1_000, 30], [1_300, 10]] as const;
const WEBHOOK_HOSTS = 200;

const RESULTS = fileURLToPath(new URL("./RESULTS-media.md", import.meta.url));

function imagesSection(figures: readonly ImageFigures[]): string {
  const rows = figures.map((one) => [
    one.request === "reply" ? "4 MB base64 reply" : "45 MB edit",
    one.server,
    `${one.parallel}`,
    figure(one.megabytesPerSecond),
    figure(one.cpuMsPerRequest, 1),
    mebibytes(one.peakBytes),
  ]);
  return table(["request", "server", "concurrent", "MB/s", "core ms each", "peak, MiB"], rows);
}

function videosSection(result: VideoBenchResult): string {
  const { createsPerSecond, rawPerSecond, looksPerSecond, lateness, rssBytes } = result;
  return table(["what", "figure"], [
    ["creates a second (256 at once)", figure(createsPerSecond)],
    ["share of the bare engine's rate for the same records and groups", percent(createsPerSecond / rawPerSecond)],
    ["polls a second of 10,000 open tasks, each every 30 s", figure(looksPerSecond)],
    [
      "time between two polls of one task / interval: p50, p99, maximum",
      [lateness.p50, lateness.p99, lateness.most]
        .map((one) => figure(one, 2)).join(", "),
    ],
    ["resident MiB, including the comparison", mebibytes(rssBytes)],
  ]);
}

function machineLine({ cpu, cores, memoryBytes, system, deno, fsyncMs }: Machine): string {
  const memory = `${mebibytes(memoryBytes)} MiB`;
  return `${cpu}, ${cores} cores, ${memory}; ${system}; Deno ${deno}; 4 KB durable in ${figure(fsyncMs, 2)} ms. ${
    new Date().toISOString().slice(0, 10)
  }.`;
}

async function main(): Promise<void> {
  const folder = await Deno.makeTempDir();
  const machine = await describeMachine(folder);
  const webhooks: WebhookFigures[] = [];
  for (const [rate, seconds] of WEBHOOK_RUNS) webhooks.push(await benchWebhooks(rate, seconds, WEBHOOK_HOSTS));
  const sharedHost = await benchSharedHost(60, 50);
  const images = await benchImages({ folder: await Deno.makeTempDir({ dir: folder }) });
  const caches = await benchCaches({ folder: await Deno.makeTempDir({ dir: folder }) });
  const videos = await benchVideos();
  const polls: PollFigures[] = [];
  for (const kind of ["ark", "xai"] as const) polls.push(await benchPolls(kind));
  await Deno.writeTextFile(
    RESULTS,
    `# Images, videos, webhooks and caches

Written by \`deno run -A bench/media.ts\`. ${machineLine(machine)}

## Images

Through the gateway and through a bare proxy. Each starts anew for each kind of request.

${imagesSection(images)}

## Videos

One process, an embedded store on disk, and a vendor with a response time of 20 ms.

${videosSection(videos)}

A finished task has in the store its record, its index entries, its hold, its ledger entries and its event. A row of
more than a quarter of a page takes a whole page, so records of finished tasks and delivered events are compacted.
"Before" is the version without compaction, in the same benchmark.

${writeTaskBytesReport(await benchTaskBytes({ hasEvents: true }), await benchTaskBytes({ hasEvents: false }))}

## Polls

A gateway with default settings and a vendor in a separate process. Every task was just submitted, and none ends.

${writePollReport(polls)}

## Creates while a vendor hangs

${writeHangingReport(await benchHangingCreates())}

## Fleet

${writeFleetReport(await benchFleet())}

## Webhooks

Tasks end at a steady rate. Each has an event for one of ${WEBHOOK_HOSTS} hosts over https. Every twentieth host never
responds. Lateness is the time from the end of the task to the arrival at one of the other hosts; the goal is less
than a second at the 99th percentile. Receivers and gateway share the machine.

${writeWebhookReport(webhooks)}

Two accounts call one host. One account has 60 events for a path that never responds. The other then has 50 for a path
that does.

${writeSharedHostReport([sharedHost])}

## Cached contents

A 4 MB context in an emulated cache: the question alone, with a reference to the cache, and with the whole context.

${writeCacheReport(caches)}
`,
  );
  await Deno.remove(folder, { recursive: true });
}

if (import.meta.main) await main();
