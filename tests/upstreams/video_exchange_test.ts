import { assertEquals, assertRejects } from "@std/assert";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { videoExchange } from "../../src/vendors/upstreams/shared/videos/video_exchange.ts";
import { until } from "../support/manual_clock.ts";
import { ok, withAnswers, withVendor } from "../support/vendor_stage.ts";

const NOTHING = { message: "", code: null, field: null, retryAfterSeconds: null };

Deno.test("outbound.pathOf() returns the path of a URL below the base URL, and null for any other", () =>
  withAnswers([], ({ outbound, vendor }) => {
    const host = `http://127.0.0.1:${vendor.port}`;
    const paths = [
      `${host}/base/jobs/1?full=1`,
      `${host}/base/../base/jobs/2`,
      `${host}/base/../admin`,
      `${host}/basement/jobs`,
      `${host}/jobs/1`,
      `https://127.0.0.1:${vendor.port}/base/jobs/1`,
      `http://127.0.0.1:${vendor.port + 1}/base/jobs/1`,
      `http://127.0.0.1.example:${vendor.port}/base/jobs/1`,
      "/base/jobs/1",
    ].map((address) => outbound.pathOf(address));
    assertEquals(paths, ["/jobs/1?full=1", "/jobs/2", null, null, null, null, null, null, null]);
    return Promise.resolve();
  }, "/base"));

Deno.test("videoExchange() does not round ids, and leaves other numbers unchanged", () =>
  withAnswers(
    [ok('{"ids":[9007199254740993,-9007199254740993],"small":7,"real":1.5,"long":12345678901234567.5}')],
    async ({ outbound }) => {
      assertEquals(await videoExchange(outbound, () => NOTHING).get("/", (answer) => answer), {
        ids: ["9007199254740993", "-9007199254740993"],
        small: 7,
        real: 1.5,
        long: 12345678901234567.5,
      });
    },
  ));

Deno.test("videoExchange() polls with a timeout of 30 seconds and creates with one of three minutes", async () => {
  const waits = (start: (exchange: ReturnType<typeof videoExchange>) => Promise<unknown>, ms: number) =>
    withVendor(async (side) => {
      await side.request();
      await side.gone();
    }, async ({ outbound, vendor, clock }) => {
      let failure: unknown = null;
      const failing = assertRejects(() => start(videoExchange(outbound, () => NOTHING)), UpstreamFailure)
        .then((thrown) => failure = thrown);
      await until(() => vendor.seen.length === 1);
      clock.advance(ms - 1);
      await Promise.resolve();
      assertEquals(failure, null);
      clock.advance(1);
      await failing;
    });
  await waits((exchange) => exchange.get("/", () => null), 30_000);
  await waits((exchange) => exchange.send("DELETE", "/"), 30_000);
  await waits((exchange) => exchange.create("/", {}, () => null), 180_000);
});

Deno.test("videoExchange() ignores the body of a response to a change", () =>
  withAnswers([ok("no JSON"), ok(""), { status: 204, body: "" }], async ({ outbound, vendor }) => {
    const exchange = videoExchange(outbound, () => NOTHING);
    await exchange.send("DELETE", "/a");
    await exchange.send("PUT", "/b");
    await exchange.send("PUT", "/c");
    assertEquals(vendor.seen.map(({ method, path }) => `${method} ${path}`), ["DELETE /a", "PUT /b", "PUT /c"]);
  }));

Deno.test("videoExchange() treats a 5xx whose body refuses the job as a refusal", async () => {
  const kinds = { rate_limited: "no", auth: "no", forbidden: "no", invalid: "no", unavailable: "unknown" } as const;
  for (const [kind, accepted] of Object.entries(kinds) as [keyof typeof kinds, string][]) {
    const failure = await withAnswers([{ status: 503, body: "{}" }], ({ outbound }) => {
      const exchange = videoExchange(outbound, () => ({ ...NOTHING, kind }));
      return assertRejects(() => exchange.create("/", {}, () => null), UpstreamFailure);
    });
    assertEquals([failure.kind, failure.facts.accepted], [kind, accepted]);
  }
});
