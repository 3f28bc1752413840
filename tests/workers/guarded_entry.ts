/** A thread that uses up its heap, or fails, in a place that `workerData` names, at a message. */
import { parentPort, workerData } from "node:worker_threads";
import { guardThread } from "../../src/platform/workers/thread_guard.ts";

guardThread();
parentPort?.on("message", (message: unknown) => {
  if (message !== "start") return parentPort?.postMessage(message);
  switch (workerData) {
    case "a message":
      return exhaust();
    case "a timer":
      return void setTimeout(exhaust, 0);
    case "a body":
      return void new Response(new Uint8Array(1)).bytes().then(exhaust);
    case "JSON":
      return exhaustByJson();
    case "a rejection":
      return void Promise.reject(new TypeError("secret words"));
    case "an exception":
      return void setTimeout(() => {
        throw new TypeError("secret words");
      }, 0);
  }
});

function exhaust(): void {
  for (const kept: unknown[] = [];;) kept.push({ at: kept.length, list: [kept.length] });
}

function exhaustByJson(): void {
  const text = `[${'[1,{"a":2}],'.repeat(200_000)}1]`;
  for (const kept: unknown[] = [];;) kept.push(JSON.parse(text));
}
