import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/2020";
import { parse } from "yaml";
import {
  configSchema,
  formattedMeanings,
  formattedSchema,
  MEANINGS_FILE,
} from "../../scripts/config_schema/document.ts";
import { readConfigSchema, SCHEMA_FILE } from "../../src/entry/cli/config_schema.ts";
import { isObject } from "../../src/conversation/neutral/wire_value.ts";
import { filesOf, ROOT } from "../architecture/source_files.ts";

const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(configSchema());

function problemsOf(config: unknown): string[] {
  validate(config);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

Deno.test(`docs/${SCHEMA_FILE} is what "deno task schema" writes`, async () => {
  const isCurrent = await readConfigSchema() === formattedSchema();
  assert(isCurrent, 'The schema is not current: run "deno task schema"');
  const areCurrent = await Deno.readTextFile(ROOT + MEANINGS_FILE) === formattedMeanings();
  assert(areCurrent, 'The meanings of settings are not current: run "deno task schema"');
});

Deno.test("the schema of configuration files takes every sample of the documentation", async () => {
  const sections = new Set(Object.keys(configSchema().properties as Record<string, unknown>));
  let samples = 0;
  for (const path of await filesOf("docs", ".md")) {
    if (path.startsWith("docs/decisions/")) continue;
    const text = await Deno.readTextFile(ROOT + path);
    for (const [, sample = ""] of text.matchAll(/^```yaml\n(.*?)^```$/gms)) {
      const config = parse(sample);
      if (!isObject(config) || !Object.keys(config).every((name) => sections.has(name))) continue;
      samples++;
      assertEquals(problemsOf(config), [], `${path}: ${sample}`);
    }
  }
  assert(samples > 20, `${samples} samples`);
});

Deno.test("the schema of configuration files finds what is misspelled, and of another type", () => {
  const faults: Readonly<Record<string, unknown>> = {
    "": { sever: {} },
    "/server": { server: { prot: 8787 } },
    "/limits/idempotency": { limits: { idempotency: { reply_bytes: 1 } } },
    "/providers/openai/kind": { providers: { openai: { kind: "opnai" } } },
    "/models/0": { models: [{ id: "a/b", sserves: [] }] },
    "/logs/level": { logs: { level: "loud" } },
    "/server/port": { server: { port: 70_000 } },
  };
  for (const [place, config] of Object.entries(faults)) {
    assert(problemsOf(config).some((problem) => problem.startsWith(`${place} `)), `${place}: ${problemsOf(config)}`);
  }
});

Deno.test("the schema of configuration files takes variables and units in the place of numbers and choices", () => {
  assertEquals(
    problemsOf({
      server: { port: "${PORT}", isolates: "auto" },
      limits: { text_body: "20MB" },
      logs: { level: "${LEVEL}" },
      catalog: "built_in",
    }),
    [],
  );
});
