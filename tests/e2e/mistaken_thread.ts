/** An isolate whose connections to one address fail by a mistake in its own code. */
import "./mistaken_connect.ts";
import "../../src/entry/app/threads/serving_thread.ts";
