/** An isolate that cannot reach the main thread with a request: what it relays is refused. */
import { ThreadRelay } from "../../src/threads/serving/relay.ts";

ThreadRelay.prototype.send = () => Promise.reject(new Error("relayed"));
await import("../../src/entry/app/threads/serving_thread.ts");
