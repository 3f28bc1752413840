import { openFileDirectory } from "../../src/platform/files/directory.ts";
import { DiskQuota } from "../../src/platform/files/quota.ts";
import { readCidr } from "../../src/platform/net/address.ts";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { VideoJobKind } from "../../src/services/videos/tasks/records.ts";
import type { VideoParts } from "../../src/services/videos/tasks/video_parts.ts";
import { createVideos, type Videos } from "../../src/services/videos/videos.ts";
import { fileSweep } from "../../src/services/videos/upkeep/retention.ts";
import type { VideoResult } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { DONE, openStage, runDue, type Stage } from "./stage.ts";

/** Retention of copies on a {@linkcode ResultStage}. */
export const FILES_MS = 7 * 86_400_000;

/** A vendor's result host on loopback. */
export interface ResultHost {
  readonly url: string;
  /** Received requests: path and headers. */
  readonly seen: { readonly path: string; readonly headers: Headers }[];
  /** Responds to the next requests. Default: {@linkcode serveSample}. */
  answer: (request: Request) => Response | Promise<Response>;
  stop(): Promise<void>;
}

/** A video of a few kilobytes, whole or in part. */
export function serveSample(request: Request): Response {
  const match = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "");
  const headers = { "content-type": "video/mp4", "accept-ranges": "bytes" };
  if (match === null) return new Response(SAMPLE_VIDEO, { headers });
  const [first, last] = [Number(match[1]), Math.min(Number(match[2]), SAMPLE_VIDEO.length - 1)];
  if (first > last) return new Response(null, { status: 416 });
  const range = `bytes ${first}-${last}/${SAMPLE_VIDEO.length}`;
  return new Response(SAMPLE_VIDEO.slice(first, last + 1), {
    status: 206,
    headers: { ...headers, "content-range": range },
  });
}

export function startResultHost(): ResultHost {
  const seen: ResultHost["seen"] = [];
  const controller = new AbortController();
  const { signal } = controller;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", signal, onListen() {} }, (request) => {
    seen.push({ path: new URL(request.url).pathname, headers: request.headers });
    return host.answer(request);
  });
  const host: ResultHost = {
    url: `http://127.0.0.1:${server.addr.port}`,
    seen,
    answer: serveSample,
    // A response may never end.
    async stop() {
      controller.abort();
      await server.finished;
    },
  };
  return host;
}

/** Videos on a manual clock, with a real directory and a vendor with results on loopback. */
export interface ResultStage {
  readonly stage: Stage;
  readonly host: ResultHost;
  readonly videos: Videos;
  readonly parts: VideoParts;
  readonly quota: DiskQuota;
  /** Creates a task and completes it with these results. Default: one at the host. */
  complete(results?: readonly VideoResult[]): Promise<string>;
  /** Runs every due job of a kind once; returns the number. */
  run(kind: VideoJobKind): Promise<number>;
  /** Removes files older than {@linkcode FILES_MS}. */
  sweepFiles(): Promise<boolean>;
  /** File names in the directory. */
  names(): string[];
  /** Streams the original of a missing copy; null if there is none. */
  stream(name: string, range?: string | null): Promise<Uint8Array | null>;
}

/** Runs a test on its own stage. */
export function onResultStage(
  name: string,
  test: (stage: ResultStage) => Promise<void>,
  overrides: Partial<VideoParts> & { readonly quotaBytes?: number } = {},
): void {
  Deno.test(name, async () => {
    const host = startResultHost();
    const folder = await Deno.makeTempDir();
    const stage = await openStage();
    const quota = new DiskQuota({ quotaBytes: overrides.quotaBytes ?? null, log: silentLog });
    const parts: VideoParts = {
      ...stage.parts,
      files: openFileDirectory(folder, quota),
      egress: { allow: [readCidr("127.0.0.1/32")], own: [], clock: stage.clock },
      ...overrides,
    };
    const videos = createVideos(parts, { polling: { requests: 1, perMs: 1, burst: 1 }, eventStreams: 1 });
    try {
      await test({
        stage,
        host,
        videos,
        parts,
        quota,
        async complete(results = [{ url: `${host.url}/video.mp4`, needsCredential: false }]) {
          stage.vendor.progress = () => ({ ...DONE, results }) as typeof DONE;
          const id = await stage.create();
          await runDue(stage.store, videos, ["video_submit"]);
          stage.clock.advance(20_000);
          await runDue(stage.store, videos, ["video_poll"]);
          return id;
        },
        run: (kind) => runDue(stage.store, videos, [kind]),
        sweepFiles: fileSweep(parts, FILES_MS),
        names: () => [...Deno.readDirSync(folder)].map((entry) => entry.name).toSorted(),
        async stream(file, range = null) {
          const streamed = await videos.streamResult(file, { range, signal: new AbortController().signal });
          return streamed && await new Response(streamed.body).bytes();
        },
      });
    } finally {
      await host.stop();
      await Deno.remove(folder, { recursive: true });
    }
  });
}
