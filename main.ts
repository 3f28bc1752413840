import { run } from "./src/entry/cli/run.ts";

if (import.meta.main) Deno.exit(await run(Deno.args));
