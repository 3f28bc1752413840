import { assertEquals } from "@std/assert";
import { RUN_ENVIRONMENT, RUN_FLAGS } from "../../scripts/run_flags.ts";
import { readDockerfile } from "./dockerfile.ts";

Deno.test("container: the gateway has the flags and the environment of the package", async () => {
  const { entrypoint, env } = await readDockerfile();
  assertEquals(entrypoint, ["deno", "run", ...RUN_FLAGS, "/app/main.js"]);
  assertEquals({ ...env, ...RUN_ENVIRONMENT }, env);
});
