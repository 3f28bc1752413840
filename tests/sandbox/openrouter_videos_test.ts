import { assertEquals } from "@std/assert";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";
import { ManualClock } from "../support/manual_clock.ts";

type Ask = (method: string, path: string, body?: unknown, key?: string) => Promise<Response>;

async function onSandbox(work: (ask: Ask, clock: ManualClock) => Promise<void>): Promise<void> {
  const clock = new ManualClock();
  const sandbox = await startSandbox({ port: 0, clock });
  await work((method, path, body, key = "sandbox") =>
    fetch(sandbox.baseUrls.openrouter + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    }), clock);
  await sandbox.stop();
}

const order = (prompt: string, more: object = {}) => ({ model: "google/veo-3.1", prompt, ...more });

Deno.test("the sandbox simulates OpenRouter videos, which require the key", () =>
  onSandbox(async (ask, clock) => {
    const created = await ask("POST", "/videos", order("Waves", { duration: 4 }));
    const { id, polling_url, status } = await created.json();
    assertEquals([created.status, polling_url, status], [202, `/api/v1/videos/${id}`, "pending"]);
    const job = async () => await (await ask("GET", `/videos/${id}`)).json();
    clock.advance(300);
    assertEquals((await job()).status, "in_progress");
    clock.advance(700);
    const { unsigned_urls: [url], usage, ...rest } = await job();
    assertEquals([rest.status, usage], ["completed", { cost: 0.2, is_byok: false }]);
    const refused = await fetch(url);
    assertEquals([refused.status, (await refused.json()).error.code], [401, 401]);
    assertEquals(await (await ask("GET", `/videos/${id}/content?index=0`)).bytes(), SAMPLE_VIDEO);
  }));

const REFUSALS: readonly [what: string, body: unknown, status: number][] = [
  ["no model", { prompt: "x" }, 400],
  ["no prompt", { model: "m" }, 400],
  ["a missing model", { ...order("x"), model: "missing" }, 404],
  ["a frame without a role", order("x", { frame_images: [{ type: "image_url", image_url: { url: "data:x" } }] }), 400],
  ["a reference without an address", order("x", { input_references: [{ type: "video_url" }] }), 400],
  ["half a second", order("x", { duration: 0.5 }), 400],
  ["a resolution that is none", order("x", { resolution: "4k" }), 400],
  ["a prompt that is rejected", order("x [[reject]]"), 403],
  ["an order to fail", order("x [[fail 503]]"), 503],
];

for (const [what, body, status] of REFUSALS) {
  Deno.test(`the sandbox's OpenRouter rejects ${what} with ${status}`, () =>
    onSandbox(async (ask) => {
      const response = await ask("POST", "/videos", body);
      assertEquals([response.status, (await response.json()).error.code], [status, status]);
    }));
}

Deno.test("all other paths of the sandbox's OpenRouter behave like OpenAI", () =>
  onSandbox(async (ask) => {
    const body = { model: "meta-llama/llama-4", messages: [{ role: "user", content: "Hello" }] };
    const response = await ask("POST", "/chat/completions", body);
    assertEquals((await response.json()).choices[0].message.content, "You said: Hello");
    await (await ask("GET", "/models")).json();
  }));
