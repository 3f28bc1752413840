import { assert, assertEquals } from "@std/assert";
import type { ThreadModule } from "../../../src/platform/lib/process/program_files.ts";
import { plainPng } from "../../support/heavy_media.ts";
import { longTest } from "../../support/long_test.ts";
import { linesOf, type OrderedGateway, pause, withOrderedGateway } from "./ordered_gateway.ts";

/**
 * The threads of a gateway with one isolate, the line that their end writes, and work that starts and needs each. The
 * thread that reads the configuration has nothing to log: whoever waits for it gets the error.
 */
const KINDS: readonly {
  readonly module: ThreadModule;
  readonly line: Readonly<Record<string, unknown>>;
  readonly work: (gateway: OrderedGateway) => Promise<Response>;
}[] = [
  {
    module: "entry/app/threads/serving_thread",
    line: { event: "worker_crashed", ref: "large requests" },
    work: largeRequest,
  },
  { module: "platform/workers/token_entry", line: { event: "worker_crashed", ref: "tokens" }, work: leftStream },
  { module: "platform/workers/media_entry", line: { event: "worker_crashed", ref: "media" }, work: reference },
  { module: "platform/http/bodies/body_entry", line: { event: "worker_crashed", ref: "bodies" }, work: largeReference },
  {
    module: "platform/store/journal/journal_entry",
    line: { event: "worker_crashed", ref: "journal" },
    work: smallRequest,
  },
  {
    module: "observers/request_log/sqlite/log_entry",
    line: { event: "worker_crashed", ref: "request log" },
    work: smallRequest,
  },
];

/** More than any thread needs to listen. */
const MAX_TRIES = 100;

for (const { module, line, work } of KINDS) {
  longTest(
    `a thread without memory ends only what it worked on: ${module}`,
    () =>
      withOrderedGateway({ stall_limit: 0 }, async (gateway) => {
        const { process, order, address, adminKey } = gateway;
        assertEquals((await work(gateway)).status, 200);
        const ended = () => linesOf(process, String(line.event)).some((entry) => entry.ref === line.ref);
        // A thread that has just been started may not listen yet.
        for (let tries = 0; !ended(); tries++) {
          assert(tries < MAX_TRIES, `no ${JSON.stringify(line)} after ${tries} orders`);
          await order({ kind: module, ms: "exhaust" });
          await pause();
          await work(gateway).catch(() => null); // a thread with work is not ended because it is idle
          for (let looks = 0; looks < 40 && !ended(); looks++) await pause();
        }
        // The first work after the end can still be for the thread that ended. Whatever comes then is served.
        await work(gateway);
        for (let calls = 0; calls < 3; calls++) assertEquals((await work(gateway)).status, 200);
        const readiness = await fetch(`${address}/readyz?verbose`, {
          headers: { authorization: `Bearer ${adminKey}` },
        });
        assertEquals([readiness.status, linesOf(process, "process.failed")], [200, []], await readiness.text());
      }),
  );
}

async function smallRequest({ chat }: OrderedGateway): Promise<Response> {
  return await consumed(await chat("go", false));
}

async function largeRequest({ chat }: OrderedGateway): Promise<Response> {
  return await consumed(await chat("word ".repeat(6_000), false));
}

/** A stream that its caller leaves: its tokens are counted. */
async function leftStream({ chat }: OrderedGateway): Promise<Response> {
  const response = await chat("[[gap 20]] [[words 500]] go", true);
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  return response;
}

/** An image from a reference, which is checked. */
async function reference(gateway: OrderedGateway): Promise<Response> {
  return await referenceWith(gateway, "a red fox");
}

/** An image whose body is read in a thread. */
async function largeReference(gateway: OrderedGateway): Promise<Response> {
  return await referenceWith(gateway, "a red fox ".repeat(3_000));
}

async function referenceWith({ address, key }: OrderedGateway, prompt: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const input_images = [`data:image/png;base64,${plainPng(64, 64).toBase64()}`];
  const body = JSON.stringify({ model: "sandbox/seer-1", prompt, quality: "low", input_images });
  return await consumed(await fetch(`${address}/v1/images/generations`, { method: "POST", headers, body }));
}

/** The response, when its body has been read. */
async function consumed(response: Response): Promise<Response> {
  await response.bytes();
  return response;
}
