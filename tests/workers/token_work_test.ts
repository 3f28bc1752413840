import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { jsonLog, silentLog } from "../../src/platform/lib/basics/log.ts";
import { countTokensInThread } from "../../src/platform/workers/token_job.ts";
import { createTokenWork } from "../../src/platform/workers/token_work.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { untilSo } from "../support/patience.ts";

const TEXTS = ["", "Say something in any tongue", "漢字仮名交じり文".repeat(300), "a".repeat(5_000), "😀".repeat(900)];

Deno.test("a worker thread counts as many tokens as the calling thread", async () => {
  const tokens = createTokenWork({ clock: systemClock, log: silentLog });
  for (const text of TEXTS) assertEquals(await tokens.count(text), await countTokensInThread(text));
  tokens.close();
});

Deno.test("a count whose thread ends is estimated at a token for each four characters, and is logged", async () => {
  const lines: string[] = [];
  const tokens = createTokenWork({
    clock: systemClock,
    log: jsonLog("info", (line) => void lines.push(line)),
    start: ({ onCrash }) => ({
      post: () => void queueMicrotask(() => onCrash("ERR_WORKER_OUT_OF_MEMORY")),
      terminate() {},
      setReferenced() {},
    }),
  });
  assertEquals(await tokens.count("x".repeat(401)), 101);
  assert(lines.some((line) => line.includes('"tokens_counted_roughly"')), lines.join("\n"));
  tokens.close();
});

Deno.test("whenIdle() waits for running counts and for those that follow them", async () => {
  const answers: (() => void)[] = [];
  const tokens = createTokenWork({
    clock: systemClock,
    log: silentLog,
    start: ({ onMessage }) => ({
      post: (message) => void answers.push(() => onMessage({ id: (message as { id: number }).id, value: 1 })),
      terminate() {},
      setReferenced() {},
    }),
  });
  const steps: string[] = [];
  void tokens.count("reply").then(() => {
    steps.push("reply");
    return tokens.count("prompt");
  }).then(() => steps.push("prompt"));
  const idle = tokens.whenIdle().then(() => steps.push("idle"));
  itemAt(answers, 0)();
  await untilSo(() => answers.length >= 2);
  itemAt(answers, 1)();
  await idle;
  assertEquals(steps, ["reply", "prompt", "idle"]);
  tokens.close();
});

Deno.test("the thread that counts tokens ends after 45 seconds without work", async () => {
  const clock = new ManualClock();
  let ended = 0;
  const tokens = createTokenWork({
    clock,
    log: silentLog,
    start: ({ onMessage }) => ({
      post: (message) => void queueMicrotask(() => onMessage({ id: (message as { id: number }).id, value: 1 })),
      terminate: () => void ended++,
      setReferenced() {},
    }),
  });
  await tokens.count("a");
  clock.advance(44_999);
  assertEquals(ended, 0);
  await tokens.count("b");
  clock.advance(44_999);
  assertEquals(ended, 0);
  clock.advance(1);
  assertEquals(ended, 1);
});
