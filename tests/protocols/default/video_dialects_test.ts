import { assertEquals } from "@std/assert";
import { dialectOf } from "../../../src/protocols/default/videos/video_dialects.ts";
import type { VideoTask } from "../../../src/services/videos/tasks/task.ts";
import { taskObjectOf } from "../../../src/services/videos/tasks/task_object.ts";
import { taskOf } from "../../videos/tasks.ts";

const PARTS = {
  baseUrl: () => "https://gateway.example",
  signingKeys: [{ id: "one", secret: new Uint8Array(32) }],
  settings: { signedUrlMs: 60_000 },
};
const objectOf = (over: Partial<VideoTask>) => taskObjectOf(taskOf(1, over), 5_000, PARTS);
const at = (agent: string) => dialectOf(new Headers({ "user-agent": agent }));

const DEFAULT = dialectOf(new Headers());
const OPENAI = at("OpenAI/JS 7.55.0");
const OPENROUTER = at("speakeasy-sdk/typescript 1.3.19 2.914.0 1.0.0 @openrouter/sdk");

Deno.test("dialectOf() recognises OpenAI's and OpenRouter's libraries by their requests, and no other client", () => {
  for (
    const agent of ["OpenAI/Python 3.54.0", "AsyncOpenAI/Python 3.54.0", "AzureOpenAI/Python 2.0", "OpenAI/Go 4.1"]
  ) {
    assertEquals(at(agent), OPENAI, agent);
  }
  assertEquals(dialectOf(new Headers({ "user-agent": "Mozilla/5.0", "x-stainless-lang": "js" })), OPENAI);
  assertEquals(at("speakeasy-sdk/python 0.1 2.914.0 1.0.0 openrouter"), OPENROUTER);
  for (const agent of ["curl/8.9", "MyOpenAI/1", "speakeasy-sdk/typescript 1 2 3 @other/sdk", "Deno/2.9.6"]) {
    assertEquals(at(agent), DEFAULT, agent);
  }
});

const SUBMITTED = { step: "submitted", provider: "p", model: "m", job: { id: "j", place: null }, since: 1 } as const;

const STATUSES: readonly [over: Partial<VideoTask>, status: string, code: string | null][] = [
  [{}, "queued", null],
  [{ stage: SUBMITTED }, "in_progress", null],
  [{ stage: SUBMITTED, progress: { queuePosition: 2 } }, "queued", null],
  [{ stage: SUBMITTED, progress: { queuePosition: 0 } }, "in_progress", null],
  [{ status: "completed" }, "completed", null],
  [{ status: "failed", error: { code: "upstream_error", message: "no" } }, "failed", "upstream_error"],
  [{ status: "cancelled" }, "failed", "cancelled"],
  [{ status: "expired" }, "failed", "expired"],
];

for (const [over, status, code] of STATUSES) {
  Deno.test(`OpenAI's library sees ${JSON.stringify(over)} as ${status}`, () => {
    const video = OPENAI.writeTask(objectOf(over)) as Record<string, unknown>;
    assertEquals([video.status, (video.error as { code: string } | null)?.code ?? null], [status, code]);
    assertEquals([typeof video.progress, typeof video.seconds, typeof video.size], ["number", "string", "string"]);
  });
}

Deno.test("other clients get the task object unchanged, and OpenRouter's library gets errors in its own shape", () => {
  const task = objectOf({ status: "failed", error: { code: "upstream_error", message: "no" } });
  assertEquals(DEFAULT.writeTask(task), task);
  assertEquals(OPENROUTER.writeTask(task), { ...task, error: "upstream_error: no" });
  const done = objectOf({ status: "completed" });
  assertEquals(OPENROUTER.writeTask(done), done);
  const error = { code: "invalid_provider_type", message: "no", type: "invalid_provider_type" };
  assertEquals(DEFAULT.writeError(error, 400), error);
  assertEquals(OPENROUTER.writeError(error, 400), {
    code: 400,
    message: "no",
    metadata: { code: "invalid_provider_type", type: "invalid_provider_type" },
  });
});
