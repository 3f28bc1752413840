import { assertEquals, assertStringIncludes } from "@std/assert";
import { readConfig } from "../../src/config/config.ts";
import type { Model } from "../../src/catalog/model.ts";
import { checkListedModels, checkPrices } from "../../src/doctor/catalog_checks.ts";
import { writeFinding } from "../../src/doctor/finding.ts";
import { checkFiles, checkVersion } from "../../src/doctor/host_checks.ts";
import { checkClock } from "../../src/doctor/network_checks.ts";

function modelServedAs(name: string, outputs: readonly string[] = ["text"]): Model {
  return {
    id: `acme/${name}`,
    architecture: { outputModalities: outputs },
    serves: [{ provider: "acme", model: name }],
  } as unknown as Model;
}

Deno.test("a model counts as listed with or without its date, and only text models are compared", () => {
  const listed = new Map([["acme", new Set(["opus-4-20260101", "mini", "gone-soon"])]]);
  const found = (...models: Model[]) => checkListedModels(models, listed);
  assertEquals(found(modelServedAs("opus-4"), modelServedAs("mini-2026-01-01")).level, "ok");
  assertEquals(found(modelServedAs("painter", ["image"])).level, "ok");
  const missing = found(modelServedAs("opus-3"), modelServedAs("mini"));
  assertEquals(missing.level, "warning");
  assertStringIncludes(missing.text, "acme/opus-3 (opus-3 at acme)");
  assertEquals(checkListedModels([modelServedAs("x")], new Map()).level, "ok");
});

Deno.test("prices that differ from the built-in ones are named with both", () => {
  const config = (prompt: string) =>
    readConfig(
      JSON.stringify({
        providers: { anthropic: { kind: "anthropic", api_key: "sk-test-key-of-tests" } },
        models: [{
          id: "anthropic/claude-sonnet-5",
          pricing: { prompt, completion: "0.00001" },
          serves: [{ provider: "anthropic", model: "claude-sonnet-5" }],
        }],
      }),
      "test.json",
      () => undefined,
    );
  assertEquals(checkPrices(config("0.000002")).level, "ok");
  const finding = checkPrices(config("0.000004"));
  assertEquals(finding.level, "warning");
  assertStringIncludes(finding.text, "anthropic/claude-sonnet-5 prompt 0.000004, built in 0.000002");
});

Deno.test("the clock is compared with the nearest vendor's, and whole seconds are tolerated", () => {
  assertEquals(checkClock([{ skewMs: null }]).level, "ok");
  assertEquals(checkClock([{ skewMs: 900_000 }, { skewMs: 1_200 }]).level, "ok");
  const late = checkClock([{ skewMs: -30_000 }]);
  assertEquals([late.level, late.text], ["warning", "30 s behind the nearest vendor's"]);
  assertEquals(checkClock([{ skewMs: 300_000 }]).level, "problem");
});

Deno.test("a file in the place of the folder is a problem, a folder that does not exist yet is not", async () => {
  const folder = await Deno.makeTempDir();
  const config = (files: string) => ({ files }) as Parameters<typeof checkFiles>[0];
  assertEquals((await checkFiles(config(`${folder}/a/b`))).level, "ok");
  await Deno.writeTextFile(`${folder}/file`, "");
  assertEquals((await checkFiles(config(`${folder}/file`))).level, "problem");
  assertEquals((await checkFiles(config(`${folder}/file/below`))).level, "problem");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("another minor version of Deno is a warning", () => {
  assertEquals(checkVersion("1.0.0", "2.9.6").level, "ok");
  const finding = checkVersion("1.0.0", "3.0.0");
  assertEquals(writeFinding(finding).split("\n").length, 2);
  assertStringIncludes(writeFinding(finding), "warning  version: switchyard 1.0.0 on Deno 3.0.0");
});
