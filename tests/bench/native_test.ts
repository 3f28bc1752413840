import { assert, assertEquals } from "@std/assert";
import { isInstalled, type Server } from "../../bench/child.ts";
import { nativeGenerator } from "../../bench/generator.ts";
import type { Load, LoadResult } from "../../bench/load.ts";
import { CHUNKS, type Mode } from "../../bench/load_request.ts";
import { compileNative } from "../../bench/native.ts";
import { startUpstream } from "../../bench/servers.ts";

const canCompile = Deno.build.os === "linux" && await isInstalled("cc");
const ignore = !canCompile;
const name = (text: string) => `${text}${canCompile ? "" : " (skipped: needs Linux and a C compiler)"}`;

interface Amount {
  readonly body: string;
  readonly connections: number;
  /** Default: 0.2. */
  readonly seconds?: number;
}

interface NativeRig {
  readonly upstream: Server;
  load(mode: Mode, load: Load, options: Amount): Promise<LoadResult>;
}

async function withNative(use: (rig: NativeRig) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const native = await compileNative(folder);
  if (typeof native === "string") throw new Error(native);
  const upstream = await startUpstream(native, folder, null);
  const generator = nativeGenerator(native.generator, { core: null, folder });
  try {
    await use({
      upstream,
      load: (mode, load, { body, connections, seconds = 0.2 }) =>
        generator.run({
          request: { port: upstream.port, path: `/${mode}/chat/completions`, headers: {}, body },
          load,
          connections,
          seconds,
        }),
    });
  } finally {
    await upstream.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test({
  name: name("native upstream: answers each format and mode, and a chunked request"),
  ignore,
  fn: () =>
    withNative(async ({ upstream: { port } }) => {
      const post = async (path: string, body: BodyInit) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body });
        return { status: response.status, text: await response.text() };
      };
      assert((await post("/json/v1/messages", "{}")).text.includes('"type":"message"'));
      assert((await post("/json/models/x:generateContent", "{}")).text.includes('"candidates"'));
      assertEquals((await post("/none/chat/completions", "{}")).status, 404);
      for (const mode of ["burst", "paced"] as const) {
        const parts = ["a".repeat(70_000), "b".repeat(10)].map((text) => new TextEncoder().encode(text));
        const { status, text } = await post(`/${mode}/chat/completions`, ReadableStream.from(parts));
        assertEquals([status, text.match(/token\d+ /g)?.length], [200, CHUNKS[mode]]);
      }
    }),
});

Deno.test({
  name: name("native generator: counts complete replies under each kind of load"),
  ignore,
  fn: () =>
    withNative(async ({ load }) => {
      const closed = await load("json", { kind: "closed" }, { body: "x".repeat(1_000_000), connections: 4 });
      assert(closed.replies >= 4 && closed.failures === 0 && closed.wholeMs !== null);
      const rate = await load("json", { kind: "rate", perSecond: 100 }, { body: "{}", connections: 1 });
      assertEquals([rate.replies, rate.failures], [20, 0]);
      const streams = await load("paced", { kind: "streams" }, { body: "{}", connections: 30 });
      assertEquals(streams.failures, 0);
      assert(streams.wholeMs !== null && streams.wholeMs.p50 > 1200, "a paced stream lasts 63 × 20 ms");
      const refused = await load("none" as Mode, { kind: "closed" }, { body: "{}", connections: 1 });
      assert(refused.replies === 0 && refused.failures > 0, "a 404 is a failure");
    }),
});

Deno.test({
  name: name("native upstream and generator: the time from the write of a chunk to its arrival"),
  ignore,
  fn: () =>
    withNative(async ({ upstream: { port }, load }) => {
      const response = await fetch(`http://127.0.0.1:${port}/paced/chat/completions`, { method: "POST", body: "{}" });
      const stamps = [...(await response.text()).matchAll(/ t=(\d{16}) /g)].map(([, digits]) => Number(digits));
      assertEquals(stamps.length, CHUNKS.paced);
      assert(stamps.every((stamp, index) => stamp > (stamps[index - 1] ?? 0)), "each is sent after the one before");
      const { oneWayMs, gaps } = await load("paced", { kind: "streams" }, { body: "{}", connections: 3, seconds: 2 });
      assert(gaps.count > 0 && oneWayMs !== null && oneWayMs.p50 > 0 && oneWayMs.p50 <= oneWayMs.max);
    }),
});
