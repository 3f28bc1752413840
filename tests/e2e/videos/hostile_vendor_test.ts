import { assertEquals, assertLess } from "@std/assert";
import { SAMPLE_VIDEO } from "../../../src/sandbox/families/sample_video.ts";
import { itemAt } from "../../support/items.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";

type Answer = (request: Request) => Response | Promise<Response>;

const DONE: Answer = (request) => {
  const { origin } = new URL(request.url);
  return Response.json({ status: "done", video: { url: `${origin}/results/video.mp4`, duration: 5 } });
};

/** A vendor with xAI's API whose poll responses and results are set by a test. */
function startVendor() {
  const answers = { poll: DONE, result: (() => new Response(SAMPLE_VIDEO)) as Answer };
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {}, onError: () => new Response() },
    (request) => {
      if (request.method === "POST") return Response.json({ request_id: crypto.randomUUID() });
      return new URL(request.url).pathname.startsWith("/results/") ? answers.result(request) : answers.poll(request);
    },
  );
  return { url: `http://127.0.0.1:${server.addr.port}`, answers, stop: () => server.shutdown() };
}

const vendor = startVendor();
const gateway = await startVideoGateway({
  config: {
    providers: { hostile: { kind: "xai", base_url: vendor.url, api_key: "vendor-key-0123456789" } },
    models: [{
      id: "sandbox/video-1",
      video: { modes: ["text2video"], price_per_second: { default: "0.10" } },
      serves: [{ provider: "hostile" }],
    }],
  },
});
const { create, until } = gateway;

/** Endless bytes, counted. */
function flood(count: { bytes: number }): Response {
  const piece = new Uint8Array(65_536).fill(0x20);
  return new Response(
    new ReadableStream({
      pull(controller) {
        count.bytes += piece.length;
        if (count.bytes > 60_000_000) return controller.close();
        controller.enqueue(piece);
      },
    }, { highWaterMark: 0 }),
    { headers: { "content-type": "application/json" } },
  );
}

Deno.test("a poll response of 60 MB is aborted after a few MB and ends no task", async () => {
  const counts: { bytes: number }[] = [];
  const flooded = Promise.withResolvers<void>();
  vendor.answers.poll = () => {
    const count = { bytes: 0 };
    if (counts.push(count) === 8) flooded.resolve();
    return flood(count);
  };
  const ids = await Promise.all(Array.from({ length: 4 }, () => create()));
  await flooded.promise;
  vendor.answers.poll = DONE;
  for (const id of ids) await until(id, "completed");
  for (const { bytes } of counts) assertLess(bytes, 12_000_000);
});

Deno.test("a result that redirects to a private address is neither streamed nor copied", async () => {
  let reached = 0;
  const inner = Deno.serve({ port: 0, hostname: "::1", onListen() {} }, () => {
    reached++;
    return new Response("a secret of the network");
  });
  vendor.answers.result = () => {
    return new Response(null, { status: 302, headers: { location: `http://[::1]:${inner.addr.port}/` } });
  };
  const task = await until(await create(), "completed");
  const mirror = itemAt(task.mirror_urls as string[], 0);
  for (const range of [undefined, "bytes=0-9"]) {
    const answer = await fetch(mirror, range ? { headers: { range } } : {});
    assertEquals([answer.status, (await answer.text()).includes("secret")], [502, false]);
  }
  assertEquals(reached, 0);
  await inner.shutdown();
});

Deno.test({
  name: "the gateway of the hostile vendor's tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    await gateway.stop();
    await vendor.stop();
  },
});
