/** The contract of image upstreams: one suite for every adapter. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { GeneratedImage, ImageOrder, ImageUpstream } from "../../src/vendors/upstreams/contract/image_upstream.ts";
import type { Outbound } from "../../src/vendors/upstreams/call/outbound_call.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { whileAdvancing } from "../support/advancing_clock.ts";
import { STAGE_KEY, type VendorAnswer, type VendorStage, withAnswers, withVendor } from "../support/vendor_stage.ts";
import { CALL, imageOf } from "../upstreams/vendor.ts";

/** One adapter, and the vendor's responses in each situation. */
export interface ImageAdapterCases {
  /** @param clock The clock for the pauses between polls. */
  readonly open: (outbound: Outbound, clock: Clock) => ImageUpstream;
  /** The path of the vendor's base URL. */
  readonly basePath: string;
  /** A request with a prompt only. */
  readonly order: ImageOrder;
  /** The model that accepts images, if it differs. Default: the model of `order`. */
  readonly editor?: string;
  /** Responses that lead to images, one per request, and the images. At least one. */
  readonly successes: readonly {
    readonly answers: readonly VendorAnswer[];
    readonly images: readonly GeneratedImage[];
  }[];
  /** Successes without an image. */
  readonly emptySuccesses: readonly (readonly VendorAnswer[])[];
  /** Content refusals, at once or later. */
  readonly contentRefusals: readonly (readonly VendorAnswer[])[];
  /** Returns an error body of the vendor with this message. */
  readonly refusal: (message: string) => unknown;
  /** The 5xx statuses after which the vendor's own client retries, so that no image was created. Default: none. */
  readonly resentStatuses?: readonly number[];
  /** Whether images can be edited, and whether with a mask. */
  readonly edits: "none" | "without_mask" | "with_mask";
}

const IMAGE_BYTES = new TextEncoder().encode("the bytes of a picture that nobody else has");

/** Registers every contract test for an adapter. */
export function imageUpstreamContract(vendor: string, dialect: ImageAdapterCases): void {
  const { basePath, order } = dialect;
  const law = (promise: string, play: () => Promise<void>) => Deno.test(`${vendor} images: ${promise}`, play);
  const answering = <T>(
    answers: readonly VendorAnswer[],
    play: (images: ImageUpstream, stage: VendorStage) => Promise<T>,
  ) =>
    withAnswers(answers, (stage) => {
      const clock = new ManualClock();
      return whileAdvancing(clock, () => play(dialect.open(stage.outbound, clock), stage));
    }, basePath);
  const failing = (answers: readonly VendorAnswer[]) =>
    answering(answers, (images) => assertRejects(() => images.generate(order, CALL), UpstreamFailure));
  const withPicture = { ...order, model: dialect.editor ?? order.model, images: [imageOf(IMAGE_BYTES)] };

  law("generate() orders once and returns what the vendor made", async () => {
    for (const { answers, images: expected } of dialect.successes) {
      await answering(answers, async (images, { vendor }) => {
        const outcome = await images.generate(order, CALL);
        assertEquals(outcome.images, expected, JSON.stringify(answers));
        assertEquals(vendor.seen.map(({ method }) => method), ["POST", ...Array(answers.length - 1).fill("GET")]);
        assert(vendor.seen.every(({ path }) => path.startsWith(`${basePath}/`)));
        assert(outcome.size === null || /^\d+x\d+$/.test(outcome.size), `${outcome.size}`);
      });
    }
  });

  law("a success without an image is an unreadable response, and leaves it unknown what was made", async () => {
    for (const answers of dialect.emptySuccesses) {
      const failure = await failing(answers);
      assertEquals([failure.kind, failure.facts.accepted], ["broken", "unknown"], JSON.stringify(answers));
    }
  });

  law("an invalid response leaves it unknown what was made", async () => {
    for (const body of ["", "<html>ok</html>", "null", "[]", "7", '{"id":']) {
      const failure = await failing([{ status: 200, body }]);
      assertEquals([failure.kind, failure.facts.accepted], ["broken", "unknown"], String(body));
    }
  });

  law("a 4xx is reported by its kind and message, and nothing was made", async () => {
    const kinds = {
      400: "invalid",
      401: "auth",
      402: "unavailable",
      403: "forbidden",
      404: "invalid",
      422: "invalid",
      429: "rate_limited",
    };
    for (const [status, kind] of Object.entries(kinds)) {
      const { kind: actualKind, message, facts } = await failing([
        { status: Number(status), body: dialect.refusal("no such thing") },
      ]);
      assertEquals([actualKind, facts.accepted, facts.status, message], [kind, "no", Number(status), "no such thing"]);
    }
  });

  law("a 429 returns the vendor's Retry-After", async () => {
    const body = dialect.refusal("slowly");
    const failure = await failing([{ status: 429, body, headers: { "retry-after": "7" } }]);
    assertEquals(failure.facts.retryAfterSeconds, 7);
  });

  law("a 5xx is the vendor's own failure, and one of a server in front leaves it unknown what was made", async () => {
    for (const status of [500, 502, 503, 504]) {
      const failure = await failing([{ status, body: "" }]);
      assert(failure.isProvidersFault && !failure.facts.isContentRefusal, String(status));
      if (dialect.resentStatuses?.includes(status)) assertEquals(failure.facts.accepted, "no", String(status));
      else if (status === 502 || status === 504) assertEquals(failure.facts.accepted, "unknown", String(status));
    }
  });

  law("a redirect is never followed", async () => {
    const failure = await failing([{ status: 302, body: "", headers: { location: "http://127.0.0.1:1/elsewhere" } }]);
    assertEquals(failure.kind, "broken");
  });

  law("a refusal for content has its own kind, and made nothing", async () => {
    for (const answers of dialect.contentRefusals) {
      const { kind, facts } = await failing(answers);
      assertEquals([kind, facts.accepted, facts.isContentRefusal], ["invalid", "no", true], JSON.stringify(answers));
    }
    const other = await failing([{ status: 400, body: dialect.refusal("the size is too large") }]);
    assert(!other.facts.isContentRefusal);
  });

  law("a quoted vendor message never shows the key", async () => {
    const { message } = await failing([{ status: 400, body: dialect.refusal(`the key ${STAGE_KEY} is odd`) }]);
    assertEquals(message, "the key [redacted] is odd");
  });

  law("a timeout is a failure that leaves it unknown what was made", () =>
    withVendor(async (side) => {
      await side.request();
      await side.gone();
    }, async ({ outbound, vendor, clock }) => {
      const ending = assertRejects(() => dialect.open(outbound, clock).generate(order, CALL), UpstreamFailure);
      await until(() => vendor.seen.length === 1);
      clock.advance(outbound.firstByteMs + 1_000);
      const failure = await ending;
      assertEquals([failure.kind, failure.facts.accepted], ["timeout", "unknown"]);
    }, basePath));

  law(
    "a vendor that was not reached has made nothing",
    () =>
      withVendor(() => Promise.resolve(), async ({ outbound, vendor, clock }) => {
        await vendor.stop();
        const failure = await assertRejects(() => dialect.open(outbound, clock).generate(order, CALL), UpstreamFailure);
        assertEquals([failure.kind, failure.facts.accepted], ["unreachable", "no"]);
      }, basePath).catch((thrown) => {
        // The stage closes the vendor a second time.
        if (!(thrown instanceof Deno.errors.BadResource)) throw thrown;
      }),
  );

  law("the caller's signal ends the call", () =>
    withVendor(async (side) => {
      await side.request();
      await side.gone();
    }, async ({ outbound, vendor, clock }) => {
      const caller = new AbortController();
      const images = dialect.open(outbound, clock);
      const ending = assertRejects(
        () => images.generate(order, { callerSignal: () => caller.signal }),
        UpstreamFailure,
      );
      await until(() => vendor.seen.length === 1);
      caller.abort();
      clock.advance(1_000); // The signal is checked only after a while.
      assertEquals((await ending).kind, "cancelled");
    }, basePath));

  law("a response above the available memory ends the call", () => {
    const full = new GatewayError("overloaded", "Cannot hold the answer");
    const reserve = () => {
      throw full;
    };
    return answering([itemAt(itemAt(dialect.successes, 0).answers, 0)], async (images) => {
      assertEquals(await images.generate(order, { ...CALL, reserve }).catch((thrown) => thrown), full);
    });
  });

  law("mostPerCall is at least one, and an order of that many states the number or is one", async () => {
    const { answers } = itemAt(dialect.successes, 0);
    await answering(answers, async (images, { vendor }) => {
      assert(Number.isInteger(images.maxPerCall) && images.maxPerCall >= 1);
      await images.generate({ ...order, count: images.maxPerCall }, CALL);
      const { body } = itemAt(vendor.seen, 0);
      assert(images.maxPerCall === 1 || body.includes(`:${images.maxPerCall}`), body);
    });
  });

  law(
    "images of an order reach the vendor complete",
    () =>
      answering(itemAt(dialect.successes, 0).answers, async (images, { vendor }) => {
        await images.generate(withPicture, CALL);
        const { body } = itemAt(vendor.seen, 0);
        assert(body.includes(IMAGE_BYTES.toBase64()) || body.includes(new TextDecoder().decode(IMAGE_BYTES)));
      }),
  );

  if (dialect.edits === "none") {
    law("edit() does not exist", () =>
      answering([], (images) => {
        assertEquals(images.edit, null);
        return Promise.resolve();
      }));
  } else {
    law(
      "edit() sends the image to edit",
      () =>
        answering(itemAt(dialect.successes, 0).answers, async (images, { vendor }) => {
          const outcome = await images.edit!(withPicture, CALL);
          assertEquals(outcome.images, itemAt(dialect.successes, 0).images);
          const { body } = itemAt(vendor.seen, 0);
          assert(body.includes(IMAGE_BYTES.toBase64()) || body.includes(new TextDecoder().decode(IMAGE_BYTES)));
        }),
    );
  }

  if (dialect.edits === "without_mask") {
    law("a mask is rejected before any request", () =>
      answering([], async (images) => {
        const masked = { ...withPicture, mask: imageOf([1]) };
        const failure = await assertRejects(() => images.edit!(masked, CALL), UpstreamFailure);
        assertEquals([failure.kind, failure.facts.accepted, failure.facts.field], ["invalid", "no", "mask"]);
      }));
  }

  if (dialect.edits === "with_mask") {
    law(
      "edit() sends the mask with the image",
      () =>
        answering(itemAt(dialect.successes, 0).answers, async (images, { vendor }) => {
          const mask = new TextEncoder().encode("the bytes of a mask");
          await images.edit!({ ...withPicture, mask: imageOf(mask) }, CALL);
          const { body } = itemAt(vendor.seen, 0);
          assert(body.includes(mask.toBase64()) || body.includes(new TextDecoder().decode(mask)));
        }),
    );
  }
}
