import { assertEquals } from "@std/assert";
import { createRedactor } from "../../src/platform/lib/text/redact.ts";
import { createHttpClient } from "../../src/platform/net/http1/client.ts";
import { originOf } from "../../src/platform/net/http1/wire_request.ts";
import type { Outbound } from "../../src/vendors/upstreams/call/outbound_call.ts";
import { createOutbound } from "../../src/vendors/upstreams/call/outbound.ts";
import type { VideoMedia, VideoOrder } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { ManualClock } from "./manual_clock.ts";
import { RECORDINGS } from "./recordings.ts";
import { answer, type ScriptedUpstream, startScriptedUpstream, type VendorConnection } from "./scripted_upstream.ts";

/** A vendor's response to one request. */
export interface VendorAnswer {
  readonly status: number;
  /** A text is sent unchanged, anything else as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A vendor that answers from a list, and an outbound that reaches it. */
export interface VendorStage {
  readonly outbound: Outbound;
  readonly vendor: ScriptedUpstream;
  readonly clock: ManualClock;
}

/** The credential of the provider in this stage. */
export const STAGE_KEY = "the-key-of-this-stage/1";

/** A 200 with this body. */
export function ok(body: unknown): VendorAnswer {
  return { status: 200, body };
}

/**
 * Runs a test with a vendor that answers each request with the next of the given responses.
 *
 * @param answers May grow during the test.
 * @param path The path after the host in the provider's base URL.
 */
export async function withAnswers<T>(
  answers: readonly VendorAnswer[],
  play: (stage: VendorStage) => Promise<T>,
  path = "",
): Promise<T> {
  let index = 0;
  const result = await withVendor(
    async (side) => {
      while (await side.request() !== null) {
        const next = answers[index++] ?? { status: 500, body: "nothing more was to be asked" };
        const body = typeof next.body === "string" ? next.body : JSON.stringify(next.body);
        await side.say(answer(next.status, body, next.headers));
      }
    },
    play,
    path,
  );
  assertEquals(index, answers.length, "every answer is asked for, and no more");
  return result;
}

/** The same with a vendor that follows a script. */
export async function withVendor<T>(
  script: (side: VendorConnection) => Promise<void>,
  play: (stage: VendorStage) => Promise<T>,
  path = "",
): Promise<T> {
  const vendor = startScriptedUpstream(script);
  const clock = new ManualClock();
  const client = createHttpClient({ clock });
  const baseUrl = new URL(`http://127.0.0.1:${vendor.port}${path}`);
  const outbound = createOutbound({
    provider: "acme",
    baseUrl,
    origin: originOf(baseUrl),
    headers: { authorization: `Bearer ${STAGE_KEY}` },
    idleMs: 5_000,
    firstByteMs: 600_000,
    client,
    clock,
    redact: createRedactor([STAGE_KEY]),
  });
  try {
    return await play({ outbound, vendor, clock });
  } finally {
    client.close();
    await vendor.stop();
  }
}

/** An order of text only, with changed fields. */
export function videoOrder(change: Partial<VideoOrder> = {}): VideoOrder {
  return {
    taskId: "0b5f3f5e-2f36-4d0a-9d56-0d8a4e6f7a11",
    model: "a-model",
    mode: "text2video",
    prompt: "a lighthouse",
    durationSeconds: 5,
    resolution: "720p",
    aspectRatio: null,
    size: null,
    firstFrame: null,
    lastFrame: null,
    references: [],
    generateAudio: null,
    seed: null,
    options: {},
    callbackUrl: null,
    ...change,
  };
}

/** A medium at a URL. */
export function mediaAt(medium: VideoMedia["medium"], value = `https://example.invalid/${medium}`): VideoMedia {
  return { medium, mediaType: null, form: "url", value };
}

/** A documented or recorded response of a media vendor; null where the recordings are absent. */
export function recordedAnswer(name: string): VendorAnswer | null {
  if (RECORDINGS === null) return null;
  const { response } = JSON.parse(Deno.readTextFileSync(`${RECORDINGS}/media/${name}.json`));
  return { status: response.status, body: response.body, headers: { "content-type": response.content_type } };
}
