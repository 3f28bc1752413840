import { assertEquals, assertMatch } from "@std/assert";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";
import { ManualClock } from "../support/manual_clock.ts";

type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any -- a vendor's reply, looked at wherever the test likes
  readonly json: any;
}

async function onSandbox(work: (ask: Ask, clock: ManualClock) => Promise<void>): Promise<void> {
  const clock = new ManualClock();
  const sandbox = await startSandbox({ port: 0, clock });
  await work(async (method, path, body, headers = {}) => {
    const response = await fetch(`${sandbox.baseUrls.runway}/v1/${path}`, {
      method,
      headers: { authorization: "Bearer sandbox", "x-runway-version": "2024-11-06", ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, json: text === "" ? null : JSON.parse(text) };
  }, clock);
  await sandbox.stop();
}

const order = (promptText: string, more: object = {}) => ({ model: "gen4.5", promptText, ratio: "1280:720", ...more });

Deno.test("the sandbox simulates Runway videos, with progress and cost", () =>
  onSandbox(async (ask, clock) => {
    const { json: { id, estimatedCost } } = await ask("POST", "text_to_video", order("Waves", { duration: 4 }));
    assertMatch(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    assertEquals(estimatedCost, { credits: 20 });
    const task = async () => (await ask("GET", `tasks/${id}`)).json;
    assertEquals((await task()).status, "PENDING");
    clock.advance(300 + 350);
    const { status, progress } = await task();
    assertEquals([status, progress], ["RUNNING", 0.5]);
    clock.advance(350);
    const { output: [url], cost, ...rest } = await task();
    assertEquals([rest.status, cost], ["SUCCEEDED", { credits: 20 }]);
    assertEquals(await (await fetch(url)).bytes(), SAMPLE_VIDEO);
  }));

Deno.test("the sandbox's Runway cancels running tasks, and deletes ended ones", () =>
  onSandbox(async (ask, clock) => {
    const { json: { id } } = await ask("POST", "text_to_video", order("Waves"));
    clock.advance(300);
    assertEquals((await ask("DELETE", `tasks/${id}`)).status, 204);
    assertEquals((await ask("GET", `tasks/${id}`)).json.status, "CANCELLED");
    assertEquals((await ask("DELETE", `tasks/${id}`)).status, 204);
    assertEquals((await ask("GET", `tasks/${id}`)).status, 404);
  }));

const REFUSALS: readonly [what: string, path: string, body: unknown, status: number][] = [
  ["a ratio in words of its own", "text_to_video", order("x", { ratio: "wide" }), 400],
  ["no prompt", "text_to_video", { model: "gen4.5" }, 400],
  ["no picture", "image_to_video", order("x"), 400],
  [
    "a picture at a plain address",
    "image_to_video",
    order("x", { promptImage: [{ uri: "http://a", position: "first" }] }),
    400,
  ],
  ["a missing model", "text_to_video", order("x", { model: "missing" }), 400],
  ["another endpoint", "sound_effect", order("x"), 404],
  ["an order to fail", "text_to_video", order("x [[fail 503]]"), 503],
];

for (const [what, path, body, status] of REFUSALS) {
  Deno.test(`the sandbox's Runway rejects ${what} with ${status}`, () =>
    onSandbox(async (ask) => {
      const answer = await ask("POST", path, body);
      assertEquals([answer.status, typeof answer.json.error], [status, "string"]);
    }));
}

Deno.test("the sandbox's Runway rejects a bad key, and requests without the version", () =>
  onSandbox(async (ask) => {
    assertEquals((await ask("GET", "organization", undefined, { authorization: "Bearer bad" })).status, 401);
    assertEquals((await ask("GET", "organization", undefined, { "x-runway-version": "2020-01-01" })).status, 400);
    assertEquals((await ask("GET", "organization")).status, 200);
  }));
