/**
 * Pictures, videos, webhooks and cached contents, measured on this machine in one run; writes `bench/RESULTS-media.md`.
 *
 *     deno run -A bench/media.ts
 */
import { fileURLToPath } from "node:url";
import { benchCaches, writeCacheReport } from "./caches.ts";
import { benchFleet, writeFleetReport } from "./fleet.ts";
import { benchImages, type ImageFigures } from "./images.ts";
import { type Machine, thisMachine } from "./machine.ts";
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

/** Rates and seconds: below the mark, at it for long, and beyond. */
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
  return table(["request", "server", "at once", "MB/s", "core ms each", "peak, MiB"], rows);
}

function videosSection(result: VideoBenchResult): string {
  const { createsPerSecond, rawPerSecond, looksPerSecond, lateness, rssBytes } = result;
  return table(["what", "figure"], [
    ["creates a second (256 at once)", figure(createsPerSecond)],
    ["of what the bare engine makes of the same records in the same groups", percent(createsPerSecond / rawPerSecond)],
    ["looks a second at 10,000 open tasks, each every 30 s", figure(looksPerSecond)],
    [
      "between two looks at one task, times the interval: p50, p99, most",
      [lateness.p50, lateness.p99, lateness.most]
        .map((one) => figure(one, 2)).join(", "),
    ],
    ["resident MiB, the comparison included", mebibytes(rssBytes)],
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
  const machine = await thisMachine(folder);
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
    `# Pictures, videos, webhooks and caches

Written by \`deno run -A bench/media.ts\`. ${machineLine(machine)}

## Pictures

Through the gateway and through a bare proxy, each fresh for each kind of request.

${imagesSection(images)}

## Videos

One process, an embedded store on disk, a vendor that answers after 20 ms.

${videosSection(videos)}

What stays of a finished task in the store: its record, its places in lists, its hold, its ledger lines and its event. A
row of more than a quarter of a page takes a page of its own, so records of finished tasks and delivered events are stored
compact. "Before" is the version that did not, with the same bench.

${writeTaskBytesReport(await benchTaskBytes({ hasEvents: true }), await benchTaskBytes({ hasEvents: false }))}

## Polls

A gateway with the usual settings and a vendor in a process of its own: every task was just submitted, and none ends.

${writePollReport(polls)}

## Fleet

${writeFleetReport(await benchFleet())}

## Webhooks

Tasks end at a steady rate and owe an event each to one of ${WEBHOOK_HOSTS} hosts over https, of which every twentieth never answers;
late is an event from the task's end to its arrival at one of the others, for which less than a second at 99 of 100 is the
mark. Receivers and gateway share the machine.

${writeWebhookReport(webhooks)}

Two accounts call one host. The path of one never answers and is owed 60 events; the other is then owed 50 by a path that
does.

${writeSharedHostReport([sharedHost])}

## Cached contents

A 4 MB context, emulated: the question alone, with the cache, and with all of the context sent along.

${writeCacheReport(caches)}
`,
  );
  await Deno.remove(folder, { recursive: true });
}

if (import.meta.main) await main();
