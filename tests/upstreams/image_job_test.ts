import { assertEquals } from "@std/assert";
import type { Outbound } from "../../src/vendors/upstreams/call/outbound_call.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { ImageCall } from "../../src/vendors/upstreams/contract/image_upstream.ts";
import { waitForImages } from "../../src/vendors/upstreams/shared/images/image_job.ts";
import { ManualClock } from "../support/manual_clock.ts";

const LIMIT_MS = 20_000;

for (const [change, byMs] of [["ahead", 3_600_000], ["back", -3_600_000]] as const) {
  Deno.test(`an image job is waited for as long as ever when the machine's clock is set ${change}`, async () => {
    const clock = new ManualClock();
    let polls = 0;
    let cancelled = 0;
    const job: Parameters<typeof waitForImages>[0] = {
      progress: { status: "pending" },
      poll: () => {
        polls++;
        return Promise.resolve({ status: "pending" });
      },
      cancel: () => Promise.resolve(void cancelled++),
    };
    const call: Pick<ImageCall, "callerSignal"> = { callerSignal: () => new AbortController().signal };
    const outbound: Pick<Outbound, "firstByteMs" | "failure"> = {
      firstByteMs: LIMIT_MS,
      failure: (kind) => new UpstreamFailure("acme", kind, "", { status: null, accepted: "unknown" }),
    };
    let ended: unknown = null;
    // @ts-expect-error the wait uses no more of them
    waitForImages(job, { outbound, call, clock, readError: () => ({}) }).catch((error) => void (ended = error));
    const passMs = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(500);
        for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      }
    };
    await passMs(2_000);
    clock.set(clock.now() + byMs);
    await passMs(LIMIT_MS - 4_000);
    assertEquals([polls > 5, cancelled, ended], [true, 0, null]);
    await passMs(4_000);
    assertEquals([cancelled, ended instanceof UpstreamFailure && ended.kind], [1, "timeout"]);
  });
}
