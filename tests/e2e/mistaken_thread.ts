/** An isolate whose connections to one address fail by a mistake of its own. */
import "./mistaken_connect.ts";
import "../../src/app/isolate_thread.ts";
