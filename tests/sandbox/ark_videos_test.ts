import { assertEquals } from "@std/assert";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { ManualClock } from "../support/manual_clock.ts";

const TASKS = "/contents/generations/tasks";

async function onSandbox(
  work: (
    call: (method: string, path: string, body?: unknown, key?: string) => Promise<Answer>,
    clock: ManualClock,
  ) => Promise<void>,
): Promise<void> {
  const clock = new ManualClock();
  const sandbox = await startSandbox({ port: 0, clock });
  await work(async (method, path, body, key = "sandbox") => {
    const response = await fetch(sandbox.baseUrls.ark + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.status, json: await response.json() };
  }, clock);
  await sandbox.stop();
}

interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any -- a vendor's reply, looked at wherever the test likes
  readonly json: any;
}

const order = (text: string, ...more: unknown[]) => ({ model: "seedance", content: [{ type: "text", text }, ...more] });
const image = (role: string) => ({ type: "image_url", role, image_url: { url: "https://example.com/a.png" } });

Deno.test("the sandbox's videos are queued, run and succeed by the clock, and the result is a video", () =>
  onSandbox(async (call, clock) => {
    const { json: { id } } = await call("POST", TASKS, order("Waves"));
    const status = async () => (await call("GET", `${TASKS}/${id}`)).json.status;
    assertEquals(await status(), "queued");
    clock.advance(300);
    assertEquals(await status(), "running");
    clock.advance(700);
    const { json: task } = await call("GET", `${TASKS}/${id}`);
    assertEquals([task.status, task.error, task.duration], ["succeeded", null, 5]);
    assertEquals(await (await fetch(task.content.video_url)).bytes(), SAMPLE_VIDEO);
    assertEquals(
      (await call("GET", `${TASKS}?page_num=1&page_size=10`)).json.items.map((item: { id: string }) => item.id),
      [id],
    );
  }));

Deno.test("the sandbox sends a result slowly, in eight pieces, if the prompt requests it", () =>
  onSandbox(async (call, clock) => {
    const { json: { id } } = await call("POST", TASKS, order("Waves [[queue 0]] [[run 0]] [[slow 800]]"));
    const { json: { content } } = await call("GET", `${TASKS}/${id}`);
    const answer = await fetch(content.video_url);
    let result: Uint8Array | null = null;
    const reading = answer.bytes().then((bytes) => result = bytes);
    let tenths = 0;
    for (; result === null; tenths++) {
      clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assertEquals([await reading, tenths >= 8], [SAMPLE_VIDEO, true]);
  }));

Deno.test("the sandbox cancels queued videos, but not running ones", () =>
  onSandbox(async (call, clock) => {
    const { json: { id: waiting } } = await call("POST", TASKS, order("Waves"));
    assertEquals((await call("DELETE", `${TASKS}/${waiting}`)).status, 200);
    assertEquals((await call("GET", `${TASKS}/${waiting}`)).json.status, "cancelled");
    const { json: { id: running } } = await call("POST", TASKS, order("Waves"));
    clock.advance(300);
    const { status, json } = await call("DELETE", `${TASKS}/${running}`);
    assertEquals([status, json.error.code], [400, "InvalidAction.RunningTaskDeletion"]);
  }));

const ENDS: readonly [directive: string, status: string, code: string | undefined][] = [
  ["[[refuse]]", "failed", "OutputVideoSensitiveContentDetected"],
  ["[[failure]]", "failed", "InternalServiceError"],
  ["[[expire]]", "expired", undefined],
  ["[[never]]", "running", undefined],
  ["[[run 5000]]", "running", undefined],
  ["[[word dreaming]] [[run 5000]]", "dreaming", undefined],
];

for (const [directive, status, code] of ENDS) {
  Deno.test(`${directive}: the sandbox's video is ${status} after a second`, () =>
    onSandbox(async (call, clock) => {
      const { json: { id } } = await call("POST", TASKS, order(`Waves ${directive}`));
      clock.advance(1_000);
      const { json } = await call("GET", `${TASKS}/${id}`);
      assertEquals([json.status, json.error?.code], [status, code]);
    }));
}

const REFUSALS: readonly [what: string, body: unknown, status: number, code: string][] = [
  ["no content", { model: "seedance", content: [] }, 400, "MissingParameter"],
  ["frames mixed with references", order("x", image("first_frame"), image("reference_image")), 400, "InvalidParameter"],
  ["a ratio beside a frame", { ...order("x", image("first_frame")), ratio: "1:1" }, 400, "InvalidParameter"],
  [
    "a video as data",
    order("x", { type: "video_url", role: "reference_video", video_url: { url: "data:video/mp4;base64,AA==" } }),
    400,
    "InvalidParameter",
  ],
  ["a gateway's own field", { ...order("x"), extra_body: {} }, 400, "InvalidParameter"],
  ["a missing model", { ...order("x"), model: "missing" }, 404, "ModelNotFound"],
  ["a prompt that is rejected", order("x [[reject]]"), 400, "InputTextSensitiveContentDetected"],
  ["an order to fail", order("x [[fail 503]]"), 503, "InternalServiceError"],
];

for (const [what, body, status, code] of REFUSALS) {
  Deno.test(`the sandbox rejects ${what} as ${code}`, () =>
    onSandbox(async (call) => {
      const answer = await call("POST", TASKS, body);
      assertEquals([answer.status, answer.json.error.code], [status, code]);
    }));
}

Deno.test("the sandbox rejects a key that begins with bad", () =>
  onSandbox(async (call) => {
    assertEquals((await call("POST", TASKS, order("x"), "bad-key")).status, 401);
  }));
