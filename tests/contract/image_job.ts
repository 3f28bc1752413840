/** The contract of vendors whose images are jobs, which are polled within the caller's request. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { ImageUpstream } from "../../src/vendors/upstreams/contract/image_upstream.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { whileAdvancing } from "../support/advancing_clock.ts";
import { answer, type WireRequest } from "../support/scripted_upstream.ts";
import { type VendorAnswer, type VendorStage, withAnswers, withVendor } from "../support/vendor_stage.ts";
import { CALL } from "../upstreams/vendor.ts";
import { type ImageAdapterCases, imageUpstreamContract } from "./image_upstream.ts";

/** One adapter of such a vendor. */
export interface ImageJobAdapterCases extends ImageAdapterCases {
  readonly created: VendorAnswer;
  /** The response to a poll of a pending job. */
  readonly pending: VendorAnswer;
  /** The responses to polls of a job whose images are those of the first success. */
  readonly done: readonly VendorAnswer[];
  /** The response to a cancel request; null if the vendor has none. */
  readonly cancelled: VendorAnswer | null;
}

/** Registers these tests, and those of every image adapter. */
export function imageJobContract(vendor: string, dialect: ImageJobAdapterCases): void {
  imageUpstreamContract(vendor, dialect);
  const { basePath, order, created, pending, done, cancelled } = dialect;
  const law = (promise: string, play: () => Promise<void>) => Deno.test(`${vendor} images: ${promise}`, play);
  const answering = <T>(answers: readonly VendorAnswer[], play: (images: ImageUpstream) => Promise<T>) =>
    withAnswers(answers, ({ outbound }) => {
      const clock = new ManualClock();
      return whileAdvancing(clock, () => play(dialect.open(outbound, clock)));
    }, basePath);
  const failingIn = ({ outbound }: VendorStage, clock: Clock) =>
    assertRejects(() => dialect.open(outbound, clock).generate(order, CALL), UpstreamFailure);
  /** Runs with a vendor that responds by the request and by the number of earlier requests. */
  const replying = (
    reply: (request: WireRequest, nth: number) => VendorAnswer,
    play: (stage: VendorStage) => Promise<void>,
  ) => {
    let requestCount = 0;
    return withVendor(
      async (side) => {
        for (let request = await side.request(); request !== null; request = await side.request()) {
          const { status, body, headers } = reply(request, requestCount++);
          await side.say(answer(status, typeof body === "string" ? body : JSON.stringify(body), headers));
        }
      },
      play,
      basePath,
    );
  };

  law(
    "a job is polled until its images are ready",
    () =>
      answering([created, pending, pending, pending, ...done], async (images) => {
        assertEquals((await images.generate(order, CALL)).images, itemAt(dialect.successes, 0).images);
      }),
  );

  law("an order that a 5xx answers leaves it unknown whether the job started", async () => {
    for (const status of [500, 502, 503, 504]) {
      const failure = await answering(
        [{ status, body: "" }],
        (images) => assertRejects(() => images.generate(order, CALL), UpstreamFailure),
      );
      const isResent = dialect.resentStatuses?.includes(status) ?? false;
      assertEquals(failure.facts.accepted, isResent ? "no" : "unknown", String(status));
    }
  });

  law("a failed poll loses no job that is paid for", () => {
    const failures = [429, 500, 502, 503, 504].map((status) => ({ status, body: dialect.refusal("not now") }));
    const unreadable = { status: 200, body: "<html>busy</html>" };
    return answering([created, ...failures, pending, unreadable, ...failures, ...done], async (images) => {
      assertEquals((await images.generate(order, CALL)).images, itemAt(dialect.successes, 0).images);
    });
  });

  law(
    "a vendor's Retry-After is respected",
    () =>
      withAnswers([created, { status: 429, body: "", headers: { "retry-after": "40" } }, ...done], async (stage) => {
        const clock = new ManualClock();
        const begin = clock.now();
        await whileAdvancing(clock, () => dialect.open(stage.outbound, clock).generate(order, CALL));
        assert(clock.now() - begin >= 40_000);
      }, basePath),
  );

  law(
    "a job whose poll is rejected with this credential ends the call, and leaves it unknown what was made",
    () =>
      replying(
        (_, nth) => nth === 0 ? created : { status: 401, body: dialect.refusal("who are you") },
        async (stage) => {
          const clock = new ManualClock();
          const failure = await whileAdvancing(clock, () => failingIn(stage, clock));
          assertEquals([failure.kind, failure.facts.accepted], ["auth", "unknown"]);
        },
      ),
  );

  law(
    "a job that does not end is abandoned, and cancelled where the vendor supports that",
    () =>
      replying(({ method }, nth) => method === "GET" ? pending : nth === 0 ? created : cancelled!, async (stage) => {
        const { outbound, vendor } = stage;
        const clock = new ManualClock();
        const begin = clock.now();
        const failure = await whileAdvancing(clock, () => failingIn(stage, clock));
        assertEquals([failure.kind, failure.facts.accepted], ["timeout", "unknown"]);
        const waited = clock.now() - begin;
        assert(waited >= outbound.firstByteMs && waited <= outbound.firstByteMs + 60_000, String(waited));
        const cancels = vendor.seen.slice(1).filter(({ method }) => method !== "GET").length;
        assertEquals(cancels, cancelled === null ? 0 : 1);
      }),
  );

  law(
    "the caller's signal ends the polling, and cancels the job where the vendor supports that",
    () =>
      withAnswers([created, pending, ...cancelled === null ? [] : [cancelled]], async ({ outbound, vendor }) => {
        const clock = new ManualClock();
        const caller = new AbortController();
        const images = dialect.open(outbound, clock);
        const ending = assertRejects(
          () => images.generate(order, { callerSignal: () => caller.signal }),
          UpstreamFailure,
        );
        await until(() => clock.waiting > 0);
        clock.advance(60_000);
        await until(() => vendor.seen.length === 2 && clock.waiting > 0);
        caller.abort();
        const failure = await ending;
        assertEquals([failure.kind, failure.facts.accepted], ["cancelled", "unknown"]);
        assertEquals(clock.waiting, 0);
      }, basePath),
  );
}
