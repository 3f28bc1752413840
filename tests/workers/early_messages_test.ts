import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { THREAD_MODULES } from "../../src/platform/lib/process/program_files.ts";
import { threadStarter } from "../../src/platform/workers/worker_thread.ts";
import { ROOT } from "../architecture/source_files.ts";

Deno.test("messages that come while the entry module of a thread waits are taken later, in their order", async () => {
  const taken: unknown[] = [];
  const all = Promise.withResolvers<void>();
  const entry = new URL("./early_entry.ts", import.meta.url);
  const thread = threadStarter({ kind: "media", entry, heapMegabytes: 24 })({
    onMessage(message) {
      taken.push(message);
      if (message === "last") all.resolve();
    },
    onCrash: (reason) => all.reject(new Error(reason)),
  });
  try {
    for (const message of ["first", "second", "last"]) thread.post(message, []);
    await all.promise;
    assertEquals(taken, ["first", "second", "last"]);
  } finally {
    thread.terminate();
  }
});

Deno.test("no module that a thread starts with awaits before it listens to messages", async () => {
  const deaf: string[] = [];
  for (const path of THREAD_MODULES) {
    const text = await Deno.readTextFile(join(ROOT, "src", `${path}.ts`));
    const awaits = text.search(/^(const .* = )?await /m);
    const listens = text.search(/^(const .* = )?(holdEarlyMessages\(\)|\w+[!?]?\??\.on\("message")/m);
    if (awaits >= 0 && (listens < 0 || awaits < listens)) deaf.push(path);
  }
  assertEquals(deaf, []);
});
