/** An isolate that fails at a message of the test, on a channel that all threads of a process share. */
import "../../src/app/isolate_thread.ts";

/** How an isolate fails. */
export type Failure = "throw" | "reject" | "exit";

const channel = new BroadcastChannel("failing-isolates");
channel.onmessage = ({ data }: MessageEvent<Failure>) => {
  setTimeout(() => {
    if (data === "throw") throw new TypeError("of the test");
    if (data === "reject") void Promise.reject(new TypeError("of the test"));
    if (data === "exit") Deno.exit(1);
  }, 0);
};
