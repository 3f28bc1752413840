import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { readDescription } from "../../src/protocols/documentation/api_description.ts";
import { ROOT } from "../architecture/source_files.ts";
import { LOCK_OF_TESTS, withPackagesOfTests } from "../support/packages.ts";
import { startDevGateway } from "./dev_gateway.ts";

const SAMPLE = new URL("client/sample.ts", import.meta.url);

Deno.test("a TypeScript client that is generated from the description compiles, and works", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const types = await openapiTS(await readDescription() as unknown as OpenAPI3);
    await Deno.writeTextFile(join(folder, "generated.ts"), astToString(types));
    await Deno.writeTextFile(join(folder, "sample.ts"), withPackagesOfTests(await Deno.readTextFile(SAMPLE)));
    assertEquals(await problemsOf(join(folder, "sample.ts")), "");
    await useSample(join(folder, "sample.ts"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** What the compiler says; empty if nothing. */
async function problemsOf(file: string): Promise<string> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", `--lock=${LOCK_OF_TESTS}`, `--config=${join(ROOT, "deno.json")}`, file],
    env: { NO_COLOR: "1" },
  }).output();
  return success ? "" : new TextDecoder().decode(stderr);
}

async function useSample(file: string): Promise<void> {
  const { useGateway } = await import(pathToFileURL(file).href);
  const gateway = await startDevGateway();
  try {
    const read = await useGateway(gateway.address, gateway.key, gateway.adminKey);
    assertEquals(read.text, "You said: Say hello");
    assert(read.modelIds.includes("sandbox/chat-1"), read.modelIds.join());
    assert(read.dryRunCost > 0);
    assertMatch(read.videoId, /^[0-9a-f-]{36}$/);
    assertMatch(read.balance, /^24\.\d+$/);
    assertEquals(read.errorCode, "not_found");
  } finally {
    await gateway.stop();
  }
}
