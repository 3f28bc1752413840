import { run } from "./src/commands.ts";

if (import.meta.main) Deno.exit(await run(Deno.args));
