import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type ModelFacts, UNKNOWN_FACTS } from "../../src/conversation/facts/model_facts.ts";
import { ANTHROPIC_FACTS } from "../../src/conversation/models/families/anthropic.ts";
import { comparableName, type FactEntry, layersIn } from "../../src/conversation/models/families/fact_entry.ts";
import { GOOGLE_FACTS } from "../../src/conversation/models/families/google.ts";
import { OPENAI_FACTS } from "../../src/conversation/models/families/openai.ts";
import type { Sandbox } from "../../src/sandbox/mod.ts";
import { ANTHROPIC_PROBES, GOOGLE_PROBES, OPENAI_PROBES, type Probe } from "./fact_probes.ts";
import { ENDPOINTS, inSandbox } from "./support.ts";

const FAMILIES = [
  { maker: "OpenAI", entries: OPENAI_FACTS, probes: OPENAI_PROBES },
  { maker: "Anthropic", entries: ANTHROPIC_FACTS, probes: ANTHROPIC_PROBES },
  { maker: "Google", entries: GOOGLE_FACTS, probes: GOOGLE_PROBES },
];

/** Anthropic accepts a system turn for this model and does not read it, so that its fact is no refusal. */
const ACCEPTED: readonly string[] = ["claude-sonnet-5: a system turn"];

for (const { maker, entries, probes } of FAMILIES) {
  Deno.test(`the simulated ${maker} refuses what the facts of each of its models say`, () =>
    inSandbox(async ({ sandbox }) => {
      let refused = 0;
      for (const model of namesOf(entries)) {
        const facts = factsOf(entries, model);
        if (facts.hasCompatibleChat) continue; // other vendors serve it
        for (const probe of Object.values(probes).flatMap((each) => each(facts))) {
          if (ACCEPTED.includes(`${model}: ${probe.what}`)) continue;
          if (probe.form === "chat" && facts.hasChat === false) continue; // answered with 404: `refusals_test.ts`
          refused += Number(probe.isRefused);
          await check(sandbox, model, probe);
        }
      }
      assert(refused > 30, `${refused} refusals`);
    }));

  Deno.test(`every fact of ${maker} is enforced`, () => {
    const stated = new Set(entries.flatMap(({ facts }) => Object.keys(facts)));
    const probed = new Set(Object.keys(probes));
    const missing = [...stated].filter((field) => !probed.has(field) && holdsSomething(entries, field));
    assertEquals(missing.filter((field) => !UNREFUSED.includes(`${maker} ${field}`)), []);
  });
}

/** Facts by which nothing is refused: they say what the gateway may use, or another format enforces them. */
const UNREFUSED: readonly string[] = [
  "OpenAI hasChat",
  "OpenAI reasoningControl",
  "OpenAI hasInstructionsInInput",
  "OpenAI minCacheTokens",
  "Anthropic minCacheTokens",
  "OpenAI hasCompatibleChat",
  "Anthropic defaultEffort",
  "Google defaultEffort",
  "Anthropic hasOutputSchemasWithTools",
  "Anthropic hasMediaInToolResults",
  "Google hasOutputSchemas",
];

function holdsSomething(entries: readonly FactEntry[], field: string): boolean {
  return entries.some(({ facts }) => Object.entries(facts).some(([name, value]) => name === field && value !== null));
}

async function check(sandbox: Sandbox, model: string, { form, what, fields, isRefused, words }: Probe): Promise<void> {
  const { path, headers, body } = ENDPOINTS[form];
  const address = path(sandbox).replace("/models/m:", `/models/${model}:`);
  const named = form === "content" ? {} : { model };
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...body("hi"), ...named, ...fields }),
  });
  const text = await response.text();
  assertEquals(response.status, isRefused ? 400 : 200, `${model}, ${what}: ${text}`);
  if (isRefused) assertStringIncludes(text, words, `${model}, ${what}`);
}

/** A name for each pattern of the facts. */
function namesOf(entries: readonly FactEntry[]): readonly string[] {
  return [...new Set(entries.flatMap(({ models }) => models.map((pattern) => pattern.replaceAll("*", "x"))))];
}

function factsOf(entries: readonly FactEntry[], model: string): ModelFacts {
  const layers = layersIn(entries, comparableName(model));
  return layers.reduce<ModelFacts>((all, { facts }) => ({ ...all, ...facts }), UNKNOWN_FACTS);
}
