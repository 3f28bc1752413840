import { assertEquals, assertThrows } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { VideoTask } from "../../src/services/videos/tasks/task.ts";
import { MIN_STORE_LIMITS } from "../../src/platform/store/store.ts";
import { refuseOversized } from "../../src/services/videos/create/task_size.ts";
import { openStage, type Stage } from "./stage.ts";
import { taskOf } from "./tasks.ts";

/** Characters of two bytes each in the store. */
const wide = (count: number) => "長".repeat(count);

const MAX_REQUEST = {
  prompt: wide(10_000),
  metadata: Object.fromEntries(Array.from({ length: 16 }, (_, n) => [wide(62) + (n + 10), wide(512)])),
};

const longResult = (n: number) => ({
  url: `https://vendor.example/${n}.mp4?${"a".repeat(4_000)}`,
  needsCredential: false,
});

async function complete(stage: Stage, results: readonly ReturnType<typeof longResult>[]): Promise<void> {
  const extras = [{ type: "thumbnail", url: `https://vendor.example/t.png?${"a".repeat(4_000)}` }] as const;
  stage.vendor.progress = () => ({
    status: "completed",
    results,
    extras,
    consumption: { seconds: null, costUsd: null },
  });
  await stage.runDue();
  stage.clock.advance(60_000);
  await stage.runDue();
}

Deno.test("a task with the longest prompt and metadata completes, with as many addresses as its record can store", async () => {
  const stage = await openStage();
  const id = await stage.create(MAX_REQUEST);
  await complete(stage, Array.from({ length: 8 }, (_, n) => longResult(n)));
  const task = await stage.read(id);
  assertEquals([task.status, task.metadata, task.prompt], ["completed", MAX_REQUEST.metadata, MAX_REQUEST.prompt]);
  assertEquals(task.unsigned_urls, [0, 1, 2, 3].map((n) => longResult(n).url));
});

Deno.test("refuseOversized() rejects a task whose record has no room to grow, and names the fields to shorten", () => {
  const at = (n: number) =>
    ({ medium: "image", at: "url", url: `https://media.example/${n}${"a".repeat(2_000)}` }) as const;
  const task = (references: number) => {
    const kept = { references: Array.from({ length: references }, (_, n) => at(n)) } as unknown as VideoTask["order"];
    return taskOf(1, { ...MAX_REQUEST, order: kept });
  };
  refuseOversized(task(8), MIN_STORE_LIMITS);
  const error = assertThrows(() => refuseOversized(task(13), MIN_STORE_LIMITS), GatewayError);
  assertEquals(error.code, "invalid_request");
});
