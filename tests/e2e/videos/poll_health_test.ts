import { assert, assertEquals } from "@std/assert";
import { startVideoGateway } from "../../support/video_gateway.ts";
import { untilSo } from "../../support/patience.ts";

/** A vendor like Ark that accepts each job, and asks for a pause at each poll. */
function startPausingVendor(retryAfter: string) {
  const paused = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    if (request.method === "POST") return Response.json({ id: "job-1" });
    paused.resolve();
    const error = { code: "RateLimitExceeded", message: "slow down" };
    return Response.json({ error }, { status: 429, headers: { "retry-after": retryAfter } });
  });
  return { baseUrl: `http://127.0.0.1:${server.addr.port}`, paused: paused.promise, stop: () => server.shutdown() };
}

Deno.test("provider health shows the budget of polls, and the pause that a vendor asked for", async () => {
  const vendor = startPausingVendor("600");
  const gateway = await startVideoGateway({
    limits: { vendor_polling: { first: 0.01, least: 0.01, most: 1, per_second: 7 } },
    added: {
      providers: { pausing: { kind: "ark", base_url: vendor.baseUrl, api_key: "vendor-key-1" } },
      models: [{
        id: "acme/paused-1",
        video: { modes: ["text2video"], price_per_second: { "720p": "0.10" } },
        serves: [{ provider: "pausing" }],
      }],
    },
  });
  try {
    const providers = async () => {
      const headers = { authorization: `Bearer ${gateway.adminKey}` };
      const { data } = await (await fetch(`${gateway.address}/admin/v1/providers`, { headers })).json();
      return data.find(({ name }: { name: string }) => name === "pausing").polls;
    };
    assertEquals(await providers(), null);
    const before = Math.floor(Date.now() / 1_000);
    await gateway.create({ model: "acme/paused-1", prompt: "A lighthouse", duration: 5, resolution: "720p" });
    await vendor.paused;
    // Ends when the answer to the poll was read.
    await untilSo(async () => (await providers()).paused_until !== null);
    const { paused_until: until, ...polls } = await providers();
    assertEquals(polls, { per_second: 7, tasks: 1, open: 0 });
    assert(until >= before + 600 - 2, `the pause ends ${until - before} s after the create`);
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
});
