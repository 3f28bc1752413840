import { assertEquals } from "@std/assert";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import { startVideoGateway, type VideoGateway, type VideoGatewayOptions } from "../../support/video_gateway.ts";
import { untilSo } from "../../support/patience.ts";
import { ROOT } from "../../webhooks/certificates.ts";
import { respondWith, startReceiver } from "../../webhooks/receiver.ts";

/** Each simulated vendor of videos that can lose a job, by the name of its address. */
const VENDORS: Readonly<Record<string, Record<string, unknown>>> = {
  ark: { kind: "ark" },
  kling: { kind: "kling", api_key: "access", secret_key: "sandbox-key-kling" },
  vidu: { kind: "vidu" },
  runway: { kind: "runway" },
  luma: { kind: "luma" },
  google: { kind: "google" },
  replicate: { kind: "replicate" },
  fal: { kind: "fal" },
  openrouter: { kind: "openai" },
};
const UPSTREAM_MODELS: Readonly<Record<string, string>> = {
  replicate: "bytedance/seedance-2.0",
  fal: "fal-ai/bytedance/seedance/v1.5/pro",
  google: "gemini-omni-flash-preview",
};
const LOST = {
  code: "upstream_error",
  message: "The provider no longer has the job, as it has reported for ten minutes. Create the video again.",
};
/** More polls without the job than a task needs to fail. */
const MIN_POLLS = 6;

let aheadMs = 0;
const clock = {
  ...systemClock,
  now: () => Date.now() + aheadMs,
  monotonicMs: () => systemClock.monotonicMs() + aheadMs,
};
const sandbox = await startSandbox({ port: 0, clock });
const folder = await Deno.makeTempDir();
await Deno.writeTextFile(`${folder}/root.pem`, ROOT);
const baseUrls: Readonly<Record<string, string>> = sandbox.baseUrls;
const options: VideoGatewayOptions = {
  clock,
  store: `kv:${folder}/store.sqlite`,
  config: { egress: { allow: ["127.0.0.1/32"], ca_file: `${folder}/root.pem` } },
  added: {
    providers: Object.fromEntries(
      Object.entries(VENDORS).map(([name, provider]) => [
        `lossy-${name}`,
        { api_key: `sandbox-key-${name}`, base_url: baseUrls[name], ...provider },
      ]),
    ),
    models: Object.keys(VENDORS).map((name) => ({
      id: `lossy/${name}`,
      video: {
        modes: ["text2video"],
        price_per_second: { default: "0.10" },
        duration: { min: 2, max: 12, default: 5 },
      },
      serves: [{ provider: `lossy-${name}`, model: UPSTREAM_MODELS[name] ?? "seedance-sandbox" }],
    })),
  },
};

/** The polls that did not find a job, by the log. */
const missedOf = ({ logLines }: VideoGateway, id: string) =>
  logLines.filter((line) => line.includes('"video_poll_failed"') && line.includes(id)).length;

Deno.test("a video whose vendor lost its job fails ten minutes later, is refunded and reported, also after a restart", async () => {
  const receiver = startReceiver(respondWith(204));
  const first = await startVideoGateway(options);
  const { balance } = await first.money();
  const ids = new Map<string, string>();
  for (const name of Object.keys(VENDORS)) {
    const fields = { prompt: `Waves ${name} [[never]] [[lost 0]]`, callback_url: `https://127.0.0.1:${receiver.port}` };
    ids.set(name, await first.create({ model: `lossy/${name}`, ...fields }));
  }
  const late = await first.create({ model: "lossy/ark", prompt: "Waves [[queue 0]] [[run 0]] [[lost 0 3000]]" });
  for (const [name, id] of ids) {
    await untilSo(() => missedOf(first, id) >= MIN_POLLS);
    assertEquals((await first.call("GET", `/v1/videos/${id}`)).json.status, "pending", name);
  }
  assertEquals((await first.until(late, "completed", "failed")).status, "completed");
  await first.stop();

  aheadMs += 5 * 60_000; // the time of the first one counts no more
  const next = await startVideoGateway({ ...options, keys: [first.key, first.otherKey] });
  for (const id of ids.values()) await untilSo(() => missedOf(next, id) >= MIN_POLLS);
  aheadMs += 6 * 60_000;
  for (const [name, id] of ids) {
    const before = missedOf(next, id);
    await untilSo(() => missedOf(next, id) >= before + 2);
    assertEquals((await next.call("GET", `/v1/videos/${id}`)).json.status, "pending", name);
  }
  aheadMs += 5 * 60_000;
  for (const [name, id] of ids) {
    await next.until(id, "completed", "failed", "expired");
    const { status, error, usage } = (await next.call("GET", `/v1/videos/${id}`)).json;
    assertEquals([name, status, error, usage.cost], [name, "failed", LOST, 0]);
    const [delivery] = (await next.call("GET", `/v1/videos/${id}/deliveries`)).json.data;
    assertEquals(delivery.event, "video.generation.failed");
  }
  await untilSo(() => receiver.received.length >= ids.size);
  const cost = (await next.call("GET", `/v1/videos/${late}`)).json.usage.cost;
  assertEquals(await next.money(), { balance: (Number(balance) - Number(cost)).toFixed(10), held: "0.0000000000" });
  await next.stop();
  await receiver.stop();
  await sandbox.stop();
  await Deno.remove(folder, { recursive: true });
});
