import { assertEquals } from "@std/assert";
import { RUN_FLAGS } from "../../scripts/run_flags.ts";
import { readDockerfile } from "./dockerfile.ts";

Deno.test("container: the gateway has the flags of the package", async () => {
  const { entrypoint } = await readDockerfile();
  assertEquals(entrypoint, ["deno", "run", ...RUN_FLAGS, "/app/main.js"]);
});
