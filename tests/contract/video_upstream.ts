/** The contract of video upstreams: one suite for every adapter. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { Outbound } from "../../src/vendors/upstreams/call/outbound_call.ts";
import type {
  CancelOutcome,
  VideoJobHandle,
  VideoOrder,
  VideoProgress,
  VideoUpstream,
} from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { until } from "../support/manual_clock.ts";
import { STAGE_KEY, type VendorAnswer, type VendorStage, withAnswers, withVendor } from "../support/vendor_stage.ts";

/** One adapter, and the vendor's responses in each situation. */
export interface VideoAdapterCases {
  readonly open: (outbound: Outbound) => VideoUpstream;
  /** The path of the vendor's base URL. */
  readonly basePath: string;
  readonly order: VideoOrder;
  readonly created: { readonly answer: VendorAnswer; readonly handle: VideoJobHandle };
  /** A creation response whose id is an integer beyond 2^53, and that id. */
  readonly longId: { readonly answer: VendorAnswer; readonly id: string };
  /** A job to poll. */
  readonly job: VideoJobHandle;
  /** Responses to a poll of that job, and their progress. */
  readonly progress: readonly { readonly answers: readonly VendorAnswer[]; readonly means: VideoProgress }[];
  /** An unknown state; null if the vendor has no words for states. */
  readonly unknownStatus: { readonly answers: readonly VendorAnswer[]; readonly status: string } | null;
  /** Successes without a result. */
  readonly emptySuccesses: readonly (readonly VendorAnswer[])[];
  /** Content refusals of a creation. */
  readonly contentRefusals: readonly VendorAnswer[];
  /** Returns an error body of the vendor with this message. */
  readonly refusal: (message: string) => unknown;
  /** The 5xx statuses after which the vendor's own client creates the job again. Default: none. */
  readonly resentStatuses?: readonly number[];
  /** Responses to a cancel request; null if the vendor does not support it. */
  readonly cancels: readonly { readonly answers: readonly VendorAnswer[]; readonly outcome: CancelOutcome }[] | null;
}

/** Registers every contract test for an adapter. */
export function videoUpstreamContract(vendor: string, dialect: VideoAdapterCases): void {
  const { basePath, order, created, job } = dialect;
  const law = (promise: string, play: () => Promise<void>) => Deno.test(`${vendor} videos: ${promise}`, play);
  const answering = <T>(
    answers: readonly VendorAnswer[],
    play: (videos: VideoUpstream, stage: VendorStage) => Promise<T>,
  ) => withAnswers(answers, (stage) => play(dialect.open(stage.outbound), stage), basePath);
  const creating = (answer: VendorAnswer) =>
    answering([answer], (videos) => assertRejects(() => videos.create(order), UpstreamFailure));

  law(
    "create() sends one request and returns the vendor's job id",
    () =>
      answering([created.answer], async (videos, { vendor }) => {
        assertEquals(await videos.create(order), created.handle);
        assertEquals(vendor.seen.map(({ method }) => method), ["POST"]);
        assert(vendor.seen[0]?.path.startsWith(`${basePath}/`));
      }),
  );

  law("an id above 2^53 is kept as the vendor wrote it", () =>
    answering([dialect.longId.answer], async (videos) => {
      assertEquals((await videos.create(order)).id, dialect.longId.id);
    }));

  law("create() leaves it unknown whether the job started when its response has no id or cannot be read", async () => {
    for (const body of [{}, "", "<html>ok</html>", "null", '{"id":']) {
      const failure = await creating({ status: 200, body });
      assertEquals([failure.kind, failure.facts.accepted], ["broken", "unknown"], String(body));
    }
  });

  law("create() reports that nothing started when it is refused with a 4xx", async () => {
    const kinds = {
      400: "invalid",
      401: "auth",
      403: "forbidden",
      404: "invalid",
      422: "invalid",
      429: "rate_limited",
    };
    for (const [status, kind] of Object.entries(kinds)) {
      const failure = await creating({ status: Number(status), body: dialect.refusal("no such thing") });
      assertEquals([failure.kind, failure.facts.accepted, failure.message], [kind, "no", "no such thing"]);
    }
  });

  law("create() returns the vendor's Retry-After", async () => {
    const failure = await creating({ status: 429, body: dialect.refusal("slowly"), headers: { "retry-after": "7" } });
    assertEquals(failure.facts.retryAfterSeconds, 7);
  });

  law(
    "create() leaves it unknown whether the job started after a 5xx or a redirect that its own client rejects",
    async () => {
      for (const status of [302, 500, 502, 503, 504]) {
        const failure = await creating({ status, body: "" });
        const isResent = dialect.resentStatuses?.includes(status) ?? false;
        assertEquals(failure.facts.accepted, isResent ? "no" : "unknown", String(status));
      }
    },
  );

  law("create() leaves it unknown whether the job started after a timeout", () =>
    withVendor(async (side) => {
      await side.request();
      await side.gone();
    }, async ({ outbound, vendor, clock }) => {
      const failing = assertRejects(() => dialect.open(outbound).create(order), UpstreamFailure);
      await until(() => vendor.seen.length === 1);
      clock.advance(600_000);
      const failure = await failing;
      assertEquals([failure.kind, failure.facts.accepted], ["timeout", "unknown"]);
    }, basePath));

  law(
    "create() never sends twice, also over a connection that closes during the request",
    () =>
      withVendor(async (side) => {
        if (side.nth === 0) {
          await side.request();
          await side.say(`HTTP/1.1 429 No\r\ncontent-length: 0\r\n\r\n`);
        }
        await side.request();
      }, async ({ outbound, vendor }) => {
        const videos = dialect.open(outbound);
        await assertRejects(() => videos.poll(job), UpstreamFailure);
        const before = vendor.seen.length;
        const failure = await assertRejects(() => videos.create(order), UpstreamFailure);
        assertEquals(failure.facts.accepted, "unknown");
        assertEquals(vendor.seen.slice(before).map(({ method }) => method), ["POST"]);
      }, basePath),
  );

  law(
    "create() reports that nothing started when the vendor was not reached",
    () =>
      withVendor(() => Promise.resolve(), async ({ outbound, vendor }) => {
        await vendor.stop();
        const failure = await assertRejects(() => dialect.open(outbound).create(order), UpstreamFailure);
        assertEquals([failure.kind, failure.facts.accepted], ["unreachable", "no"]);
      }, basePath).catch((thrown) => {
        // The stage closes the vendor a second time.
        if (!(thrown instanceof Deno.errors.BadResource)) throw thrown;
      }),
  );

  law("create() reports a refusal for content with its own kind, and that nothing started", async () => {
    for (const refusal of dialect.contentRefusals) {
      const { kind, facts } = await creating(refusal);
      assertEquals([kind, facts.accepted, facts.isContentRefusal], ["invalid", "no", true]);
    }
    const other = await creating({ status: 400, body: dialect.refusal("duration is too long") });
    assert(!other.facts.isContentRefusal);
  });

  law("poll() reads every state that the vendor has", async () => {
    for (const { answers, means } of dialect.progress) {
      assertEquals(await answering(answers, (videos) => videos.poll(job)), means, JSON.stringify(answers));
    }
  });

  law("an unknown state means that the job continues", async () => {
    if (dialect.unknownStatus === null) return;
    const { answers, status } = dialect.unknownStatus;
    const progress = await answering(answers, (videos) => videos.poll(job));
    assertEquals(progress, { status: "pending", isRunning: null, unknownStatus: status });
  });

  law("a success without a result is a failure", async () => {
    for (const answers of dialect.emptySuccesses) {
      const progress = await answering(answers, (videos) => videos.poll(job));
      assert(progress.status === "failed" && progress.code === "upstream_error", JSON.stringify(answers));
    }
  });

  law("a failed poll ends no job", async () => {
    for (const status of [401, 404, 429, 500, 503]) {
      await answering(
        [{ status, body: dialect.refusal("not now") }],
        (videos) => assertRejects(() => videos.poll(job), UpstreamFailure),
      );
    }
    for (const body of ["<html></html>", "[]", "7"]) {
      const failure = await answering(
        [{ status: 200, body }],
        (videos) => assertRejects(() => videos.poll(job), UpstreamFailure),
      );
      assertEquals(failure.kind, "broken");
    }
  });

  law("a quoted vendor message never shows the key", async () => {
    const { message } = await creating({ status: 400, body: dialect.refusal(`the key ${STAGE_KEY} is odd`) });
    assertEquals(message, "the key [redacted] is odd");
  });

  law(
    "rejected options are named in lower-case letters and digits, each with an alternative",
    () =>
      answering([], (videos) => {
        for (const [name, why] of Object.entries(videos.refusedOptions ?? {})) {
          assert(/^[a-z0-9]+$/.test(name) && why.length > 20, name);
        }
        return Promise.resolve();
      }),
  );

  if (dialect.cancels === null) {
    law("cancel() does not exist", () =>
      answering([], (videos) => {
        assertEquals(videos.cancel, null);
        return Promise.resolve();
      }));
  } else {
    const cancels = dialect.cancels;
    law("cancel() returns the outcome", async () => {
      for (const { answers, outcome } of cancels) {
        assertEquals(await answering(answers, (videos) => videos.cancel!(job)), outcome, JSON.stringify(answers));
      }
    });
  }
}
