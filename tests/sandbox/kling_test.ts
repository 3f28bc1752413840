import { assertEquals } from "@std/assert";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";
import { byKeyOrToken } from "../../src/vendors/upstreams/kling/token.ts";
import { ManualClock } from "../support/manual_clock.ts";

type Ask = (method: string, path: string, body?: unknown, authorization?: string) => Promise<Answer>;

interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any -- a vendor's reply, looked at wherever the test likes
  readonly json: any;
}

async function onSandbox(work: (ask: Ask, clock: ManualClock) => Promise<void>): Promise<void> {
  const clock = new ManualClock();
  const sandbox = await startSandbox({ port: 0, clock });
  await work(async (method, path, body, authorization = "Bearer sandbox") => {
    const response = await fetch(`${sandbox.baseUrls.kling}/v1/videos/${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.status, json: await response.json() };
  }, clock);
  await sandbox.stop();
}

const order = (prompt: string, more: object = {}) => ({ model_name: "kling-v3", prompt, duration: "5", ...more });

Deno.test("the sandbox simulates Kling videos, found by either id under the path that created them", () =>
  onSandbox(async (ask, clock) => {
    const created = await ask("POST", "text2video", order("Waves", { external_task_id: "mine" }));
    const { task_id } = created.json.data;
    assertEquals([created.status, created.json.code, created.json.data.task_status], [200, 0, "submitted"]);
    clock.advance(300);
    assertEquals((await ask("GET", "text2video/mine")).json.data.task_status, "processing");
    clock.advance(700);
    const { data } = (await ask("GET", `text2video/${task_id}`)).json;
    assertEquals([data.task_status, data.task_info.external_task_id], ["succeed", "mine"]);
    const [{ url, duration }] = data.task_result.videos;
    assertEquals(duration, "5");
    assertEquals(await (await fetch(url)).bytes(), SAMPLE_VIDEO);
    const elsewhere = await ask("GET", `image2video/${task_id}`);
    assertEquals([elsewhere.status, elsewhere.json.code], [404, 1203]);
    const { json: { data: list } } = await ask("GET", "text2video?pageNum=1&pageSize=10");
    assertEquals(list.map((each: { task_id: string }) => each.task_id), [task_id]);
  }));

Deno.test("the sandbox's Kling accepts tokens while they are valid", () =>
  onSandbox(async (ask, clock) => {
    const tokenAt = (now: number, apiKey = "access") => {
      const request = { method: "GET", path: "/", host: "vendor.example", parts: () => [], now };
      const fields = byKeyOrToken()(request, { apiKey, secretKey: "secret" });
      return (fields as { authorization: string }).authorization;
    };
    const codeFor = async (authorization: string) =>
      (await ask("GET", "text2video", undefined, authorization)).json.code;
    clock.advance(10_000_000);
    assertEquals(await codeFor(tokenAt(clock.now())), 0);
    assertEquals(await codeFor(tokenAt(clock.now() + 120_000)), 1003);
    assertEquals(await codeFor(tokenAt(clock.now() - 3_600_000)), 1004);
    assertEquals(await codeFor(tokenAt(clock.now(), "bad-access")), 1002);
  }));

const REFUSALS: readonly [what: string, kind: string, body: unknown, status: number, code: number][] = [
  ["a length that is a number", "text2video", { ...order("x"), duration: 5 }, 400, 1201],
  ["no prompt", "text2video", { model_name: "kling-v3" }, 400, 1201],
  ["a picture with a prefix", "image2video", order("x", { image: "data:image/png;base64,AA==" }), 400, 1201],
  ["no picture", "image2video", order("x"), 400, 1201],
  ["a missing model", "text2video", order("x", { model_name: "missing" }), 400, 1201],
  ["another path", "lip-sync", order("x"), 404, 1202],
  ["a prompt that is rejected", "text2video", order("x [[reject]]"), 400, 1301],
  ["an order to fail", "text2video", order("x [[fail 429]]"), 429, 1303],
];

for (const [what, kind, body, status, code] of REFUSALS) {
  Deno.test(`the sandbox's Kling rejects ${what} as ${code}`, () =>
    onSandbox(async (ask) => {
      const answer = await ask("POST", kind, body);
      assertEquals([answer.status, answer.json.code], [status, code]);
    }));
}

Deno.test("the sandbox's Kling accepts each external id once", () =>
  onSandbox(async (ask) => {
    assertEquals((await ask("POST", "text2video", order("x", { external_task_id: "one" }))).json.code, 0);
    assertEquals((await ask("POST", "text2video", order("x", { external_task_id: "one" }))).json.code, 1201);
  }));
