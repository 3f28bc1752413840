import { assertEquals } from "@std/assert";
import { itemAt } from "../../support/items.ts";
import { startVideoGateway, type VideoGateway } from "../../support/video_gateway.ts";
import { untilSo } from "../../support/patience.ts";

/** Responses of each vendor that leave the outcome of a create unknown. */
const DOUBTS = {
  "fal 500": { kind: "fal", model: "fal-ai/veo3.1", status: 500, body: { detail: "Boom" } },
  "xAI 503": { kind: "xai", model: "grok-imagine-video", status: 503, body: { error: "busy" } },
  "xAI {}": { kind: "xai", model: "grok-imagine-video", status: 200, body: {} },
  "MiniMax blank id": { kind: "minimax", model: "MiniMax-H3", status: 200, body: { task_id: "" } },
  "Hailuo 1000": {
    kind: "minimax",
    model: "MiniMax-Hailuo-2.3",
    status: 200,
    body: { task_id: "", base_resp: { status_code: 1000, status_msg: "unknown error" } },
  },
} as const;

interface Answers {
  readonly status: number;
  readonly body: unknown;
}

/** A gateway with one vendor that responds to each create with the next of these, and repeats the last. */
async function withVendor(
  { kind, model }: { readonly kind: string; readonly model: string },
  answers: readonly Answers[],
  limits: Readonly<Record<string, unknown>>,
  play: (gateway: VideoGateway, creates: () => number) => Promise<void>,
): Promise<void> {
  let creates = 0;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    if (request.method !== "POST") return new Response("{}", { status: 404 });
    const { status, body } = itemAt(answers, Math.min(creates++, answers.length - 1));
    return Response.json(body, { status });
  });
  const providers = { vendor: { kind, base_url: `http://127.0.0.1:${server.addr.port}`, api_key: "a-key" } };
  const video = { modes: ["text2video"], price_per_second: { default: "0.10" } };
  const models = [{ id: "sandbox/video-1", video, serves: [{ provider: "vendor", model }] }];
  const gateway = await startVideoGateway({ config: { providers, models }, limits });
  try {
    await play(gateway, () => creates);
  } finally {
    await gateway.stop();
    await server.shutdown();
  }
}

for (const [name, doubt] of Object.entries(DOUBTS)) {
  Deno.test(`a create with the response ${name} fails after the doubt period and costs nothing`, () =>
    withVendor(doubt, [doubt], { video_doubt: 0.2 }, async (gateway, creates) => {
      const id = await gateway.create({ duration: 6 });
      const task = await gateway.until(id, "failed");
      assertEquals((task.error as { code: string }).code, "outcome_unknown");
      assertEquals([await gateway.money(), creates()], [{ balance: "25.0000000000", held: "0.0000000000" }, 1]);
    }));

  Deno.test(`DELETE ends a create with the response ${name} and releases its hold`, () =>
    withVendor(doubt, [doubt], { video_doubt: 3_600 }, async (gateway, creates) => {
      const id = await gateway.create({ duration: 6 });
      await untilSo(() => creates() !== 0);
      const { status, json } = await gateway.call("DELETE", `/v1/videos/${id}`);
      assertEquals([status, json.status], [200, "cancelled"]);
      assertEquals([await gateway.money(), creates()], [{ balance: "25.0000000000", held: "0.0000000000" }, 1]);
    }));
}

for (const status of [429, 502, 503, 504]) {
  Deno.test(`a create that fal responds to with ${status} is sent again, as by fal's client`, () =>
    withVendor(
      DOUBTS["fal 500"],
      [{ status, body: {} }, { status: 200, body: { request_id: "r-1" } }],
      {},
      async (gateway, creates) => {
        const id = await gateway.create({ duration: 6 });
        await untilSo(() => creates() >= 2);
        const { json } = await gateway.call("GET", `/v1/videos/${id}`);
        assertEquals(json.status, "pending");
      },
    ));
}

Deno.test("a create that the vendor responds to with 401 fails immediately as upstream_auth_failed", () =>
  withVendor(DOUBTS["xAI {}"], [{ status: 401, body: { error: "bad key" } }], {}, async (gateway) => {
    const task = await gateway.until(await gateway.create({ duration: 6 }), "failed");
    assertEquals((task.error as { code: string }).code, "upstream_auth_failed");
  }));
