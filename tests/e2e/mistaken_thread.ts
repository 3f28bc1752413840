/** An isolate whose connections to one address fail by a mistake in its own code. */
import "./mistaken_connect.ts";
import "../../src/app/isolate_thread.ts";
