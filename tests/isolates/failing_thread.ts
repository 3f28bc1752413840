/** An isolate that fails at a message of the test, on a channel that all threads of a process share. */
import "../../src/entry/app/threads/serving_thread.ts";
import { holdState } from "../../src/platform/lib/basics/held.ts";

/** How an isolate fails. */
export type Failure = "throw" | "reject" | "state" | "exhaust" | "exit";

const channel = new BroadcastChannel("failing-isolates");
channel.onmessage = ({ data }: MessageEvent<Failure>) => {
  setTimeout(() => {
    if (data === "throw") throw new TypeError("of the test");
    if (data === "reject") void Promise.reject(new TypeError("of the test"));
    if (data === "state") holdState(Promise.reject(new TypeError("of the test")), "the test");
    if (data === "exhaust") { for (const kept: unknown[] = [];;) kept.push({ at: kept.length, list: [kept.length] }); }
    if (data === "exit") Deno.exit(1);
  }, 0);
};
