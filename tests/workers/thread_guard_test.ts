import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { THREAD_MODULES } from "../../src/platform/lib/process/program_files.ts";
import { stackOf } from "../../src/platform/lib/process/unhandled.ts";
import { threadStarter } from "../../src/platform/workers/worker_thread.ts";
import { ROOT } from "../architecture/source_files.ts";

const ENTRY = new URL("./guarded_entry.ts", import.meta.url);

for (const place of ["a message", "a timer", "a body", "JSON"]) {
  Deno.test(`a thread whose heap is used up in ${place} is reported as ended, and the process goes on`, async () => {
    const thread = Promise.withResolvers<string>();
    const { post, terminate } = threadStarter({ kind: "media", entry: ENTRY, heapMegabytes: 24, data: place })({
      onMessage() {},
      onCrash: thread.resolve,
    });
    post("start", []);
    assertEquals(await thread.promise, "ERR_WORKER_OUT_OF_MEMORY");
    terminate();
  });
}

for (const place of ["a rejection", "an exception"]) {
  Deno.test(`${place} that a thread does not handle is reported with its stack, and the thread goes on`, async () => {
    const reported = Promise.withResolvers<unknown>();
    const answered = Promise.withResolvers<unknown>();
    const take = (event: ErrorEvent) => {
      event.preventDefault();
      reported.resolve(event.error);
    };
    addEventListener("error", take);
    const thread = threadStarter({ kind: "media", entry: ENTRY, heapMegabytes: 24, data: place })({
      onMessage: answered.resolve,
      onCrash: answered.reject,
    });
    try {
      thread.post("start", []);
      const stack = stackOf(await reported.promise);
      assertMatch(stack, /^ThreadError TypeError at .*guarded_entry\.ts:\d+:\d+/);
      assertEquals(stack.includes("secret"), false);
      thread.post("next", []);
      assertEquals(await answered.promise, "next");
    } finally {
      thread.terminate();
      removeEventListener("error", take);
    }
  });
}

/** Small threads without requests, as web workers: their starter takes their errors, and they have no memory limit. */
const WEB_WORKERS: typeof THREAD_MODULES[number][] = [
  "entry/cli/process/launcher_entry",
  "entry/cli/process/watch_entry",
];

Deno.test("every module that a thread starts with calls guardThread()", async () => {
  const texts = THREAD_MODULES.map((path) => Deno.readTextFile(join(ROOT, "src", `${path}.ts`)));
  const unguarded = (await Promise.all(texts)).flatMap((text, n) =>
    /^guardThread\(/m.test(text) ? [] : THREAD_MODULES[n]
  );
  assertEquals(unguarded.toSorted(), WEB_WORKERS);
});
