/** `deno task wasm`: builds `src/platform/lib/json/json_index.wasm` from its source text. A test compares the two. */
import { buildWasm } from "../tests/support/build_wasm.ts";

const SOURCE = "src/platform/lib/json/json_index.wat";

await Deno.writeFile(SOURCE.replace(/wat$/, "wasm"), await buildWasm(await Deno.readTextFile(SOURCE)));
