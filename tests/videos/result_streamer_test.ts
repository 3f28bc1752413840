import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";
import { until } from "../support/manual_clock.ts";
import { DONE, failure } from "./stage.ts";
import { onResultStage } from "./result_stage.ts";

const DAY_MS = 86_400_000;
const signal = () => new AbortController().signal;

async function* pieces(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < SAMPLE_VIDEO.length; at += 500) yield await Promise.resolve(SAMPLE_VIDEO.slice(at, at + 500));
}

async function* broken(bytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (bytes > 0) yield SAMPLE_VIDEO.slice(0, bytes);
  yield await Promise.reject(failure("unknown", "broken"));
}

onResultStage(
  "a result can be opened after completion: it streams from its vendor during the copy",
  async (on) => {
    const name = `${await on.complete()}-0.mp4`;
    const copying = Promise.withResolvers<Response>();
    on.host.answer = () => copying.promise;
    const running = on.run("video_mirror");
    await until(() => on.host.seen.length === 1);
    on.host.answer = () => new Response(SAMPLE_VIDEO, { headers: { "content-type": "application/octet-stream" } });
    const streamed = (await on.videos.streamResult(name, { range: null, signal: signal() }))!;
    assertEquals([streamed.mediaType, streamed.bytes, streamed.part], ["video/mp4", SAMPLE_VIDEO.length, null]);
    assertEquals(await new Response(streamed.body).bytes(), SAMPLE_VIDEO);
    copying.resolve(new Response(SAMPLE_VIDEO));
    await running;
    assertEquals(on.names(), [name]);
  },
);

onResultStage(
  "a range is forwarded from a vendor that supports ranges, and the whole file from one that does not",
  async (on) => {
    const name = `${await on.complete()}-0.mp4`;
    const streamed = (await on.videos.streamResult(name, { range: "bytes=5-9", signal: signal() }))!;
    assertEquals([streamed.part, streamed.bytes], [`bytes 5-9/${SAMPLE_VIDEO.length}`, 5]);
    assertEquals(await new Response(streamed.body).bytes(), SAMPLE_VIDEO.slice(5, 10));
    const outside = () => on.videos.streamResult(name, { range: "bytes=99999-100000", signal: signal() });
    assertEquals((await assertRejects(outside, GatewayError)).status, 416);
    on.host.answer = () => new Response(SAMPLE_VIDEO);
    assertEquals(await on.stream(name, "bytes=5-9"), SAMPLE_VIDEO);
  },
);

onResultStage("a range is requested from every host that an address redirects to", async (on) => {
  const { host } = on;
  const serve = host.answer;
  host.answer = (request) =>
    request.url.endsWith("/video.mp4")
      ? new Response(null, { status: 302, headers: { location: "/cdn" } })
      : serve(request);
  const name = `${await on.complete()}-0.mp4`;
  assertEquals(await on.stream(name, "bytes=5-9"), SAMPLE_VIDEO.slice(5, 10));
});

onResultStage(
  "a result whose copy failed streams from its vendor while it is retained, and is not found after that",
  async (on) => {
    const name = `${await on.complete()}-0.mp4`;
    const serve = on.host.answer;
    on.host.answer = () => new Response(null, { status: 503 });
    await on.run("video_mirror");
    on.host.answer = serve;
    assertEquals(await on.stream(name), SAMPLE_VIDEO);
    on.host.answer = () => new Response(null, { status: 503 });
    assertEquals((await assertRejects(() => on.stream(name), GatewayError)).code, "upstream_error");
    on.host.answer = () => new Response(null, { status: 410 });
    assertEquals(await on.stream(name), null);
    on.stage.clock.advance(DAY_MS);
    await on.run("video_mirror");
    on.host.answer = serve;
    assertEquals(await on.stream(name), null);
  },
);

onResultStage(
  "a result that needs the vendor's key is opened only by its adapter, and its address is not exposed",
  async (on) => {
    const { stage, host } = on;
    stage.vendor.open = () => Promise.resolve({ bytes: pieces() });
    const name = `${await on.complete([{ url: `${host.url}/secret`, needsCredential: true }])}-0.mp4`;
    const streamed = (await on.videos.streamResult(name, { range: "bytes=0-1", signal: signal() }))!;
    assertEquals([streamed.mediaType, streamed.bytes, streamed.part], ["video/mp4", null, null]);
    assertEquals(await new Response(streamed.body).bytes(), SAMPLE_VIDEO);
    assertEquals(host.seen.length, 0);
    stage.vendor.open = () => Promise.reject(failure("no", "invalid"));
    assertEquals(await on.stream(name), null);
  },
);

onResultStage(
  "an expired address is renewed at most once a minute, however often it is opened",
  async (on) => {
    const { stage, host } = on;
    stage.vendor.renewsUrls = true;
    let polls = 0;
    host.answer = (request) => new Response(SAMPLE_VIDEO, { status: request.url.endsWith("new.mp4") ? 200 : 403 });
    const name = `${await on.complete([{ url: `${host.url}/old.mp4`, needsCredential: false }])}-0.mp4`;
    const results = (url: string) => {
      stage.vendor.progress = () => {
        polls++;
        return { ...DONE, results: [{ url: `${host.url}/${url}`, needsCredential: false }] } as typeof DONE;
      };
    };
    results("dead.mp4");
    assertEquals([await on.stream(name), await on.stream(name), polls], [null, null, 1]);
    results("new.mp4");
    stage.clock.advance(60_000);
    assertEquals([await on.stream(name), await on.stream(name), polls], [SAMPLE_VIDEO, SAMPLE_VIDEO, 2]);
  },
);

onResultStage("a page in place of a result is not served: it is renewed, else the vendor's failure", async (on) => {
  const { stage, host } = on;
  host.answer = (request) => {
    const headers = { "content-type": "video/mp4" };
    return new Response(request.url.endsWith("new.mp4") ? SAMPLE_VIDEO : "<html>expired</html>", { headers });
  };
  const name = `${await on.complete([{ url: `${host.url}/old.mp4`, needsCredential: false }])}-0.mp4`;
  const error = await assertRejects(() => on.stream(name), GatewayError);
  assertEquals([error.code, error.message], [
    "upstream_error",
    "Cannot stream the result: the provider returned something else",
  ]);
  stage.vendor.renewsUrls = true;
  const results = [{ url: `${host.url}/new.mp4`, needsCredential: false }];
  stage.vendor.progress = () => ({ ...DONE, results }) as typeof DONE;
  assertEquals(await on.stream(name), SAMPLE_VIDEO);
});

onResultStage("the first bytes of a file are a range like any other", async (on) => {
  const name = `${await on.complete()}-0.mp4`;
  for (const last of [0, 5, 63, 100]) {
    assertEquals(await on.stream(name, `bytes=0-${last}`), SAMPLE_VIDEO.slice(0, last + 1));
  }
});

onResultStage("a copy name that its task does not have is not requested from a vendor", async (on) => {
  const id = await on.complete();
  for (const name of ["abc.mp4", `${crypto.randomUUID()}-0.mp4`, `${id}-1.mp4`, `${id}-extra-0.png`, `${id}.mp4`]) {
    assertEquals(await on.stream(name), null, name);
  }
  assertEquals(on.host.seen.length, 0);
});

onResultStage("one account has a maximum number of concurrent vendor connections", async (on) => {
  const name = `${await on.complete()}-0.mp4`;
  on.host.answer = () =>
    new Response(new ReadableStream({ start: (controller) => controller.enqueue(SAMPLE_VIDEO.slice()) }));
  const open = () => on.videos.streamResult(name, { range: null, signal: signal() });
  const streams = await Promise.all(Array.from({ length: 32 }, open));
  const refused = await assertRejects(open, GatewayError);
  assertEquals([refused.code, refused.details.retryAfterSeconds], ["overloaded", 5]);
  await streams[0]!.body.cancel();
  const another = await open();
  await Promise.all([...streams.slice(1), another].map((each) => each!.body.cancel()));
});

onResultStage(
  "a vendor that fails before the first byte is an upstream_error, and later aborts the response",
  async (on) => {
    const name = `${await on.complete([{ url: "https://vendor.example/1", needsCredential: true }])}-0.mp4`;
    on.stage.vendor.open = () => Promise.resolve({ bytes: broken(0) });
    assertEquals((await assertRejects(() => on.stream(name), GatewayError)).code, "upstream_error");
    on.stage.vendor.open = () => Promise.resolve({ bytes: broken(100) });
    await assertRejects(() => on.stream(name));
  },
);
