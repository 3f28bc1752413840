import { parse } from "yaml";
import { checkConfig } from "../../../src/config/load_config.ts";
import type { CodeBlock } from "./code_blocks.ts";

type Section = Record<string, unknown>;

/** Pages with files of other programs. */
const PAGES_OF_OTHERS: readonly string[] = ["docs/clients.md", "docs/importing.md"];

/** Whether a block is a configuration of the gateway, or a part of one. */
export function isConfiguration({ page, language }: CodeBlock): boolean {
  return language === "yaml" && !PAGES_OF_OTHERS.includes(page);
}

/**
 * Checks a configuration as `config check` does. Variables have values. Providers and models that a part names and does
 * not have are added.
 *
 * @returns The problems.
 */
export function problemsOf(block: CodeBlock): readonly string[] {
  const { text } = block;
  const variables = new Set([...text.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([name]) => name));
  const env = (name: string) => variables.has(name) ? `value-of-${name}` : undefined;
  return checkConfig({ path: "switchyard.yaml", env, readFile: () => completedText(block) }).problems;
}

/** The text of a whole configuration with the block's settings, as JSON. */
export function completedText({ text }: CodeBlock): string {
  return JSON.stringify(withNamedParts(wholeOf(parse(text))));
}

/** Fields of a model alone are put into a model. */
function wholeOf(sections: Section): Section {
  return "pricing" in sections
    ? { models: [{ id: "example/one", serves: [{ provider: "example" }], ...sections }] }
    : sections;
}

/** Adds the providers that models name, and the models that aliases and fallbacks name. */
function withNamedParts(sections: Section): Section {
  const aliases = Object.values(record(sections.aliases)).flatMap((alias) =>
    typeof alias === "string" ? [alias] : [String(record(alias).model), ...list(record(alias).fallbacks).map(String)]
  );
  const models = list(sections.models).map(record);
  const ids = new Set([...models.map(({ id }) => id), ...Object.keys(record(sections.aliases))]);
  const named = [...aliases, ...models.flatMap(({ fallbacks }) => list(fallbacks).map(String))];
  const added = [...new Set(named)].filter((id) => !ids.has(id) && !ids.has(id.replace(/\/.*$/, "/*"))).map((id) => ({
    id,
    serves: [{ provider: providerOf(id) }],
    pricing: "free",
  }));
  const all = [...models, ...added];
  const providers = { ...record(sections.providers) };
  for (const name of all.flatMap(providersOf)) {
    providers[name] ??= { kind: "openai", base_url: "https://vendor.example/v1", api_key: "key" };
  }
  return { ...sections, ...all.length > 0 && { models: all }, ...Object.keys(providers).length > 0 && { providers } };
}

function providersOf(model: Section): string[] {
  const serves = list(model.serves).map((each) => String(record(each).provider));
  return serves.length > 0 ? serves : [providerOf(String(model.id))];
}

function providerOf(id: string): string {
  return id.slice(0, id.indexOf("/"));
}

function record(value: unknown): Section {
  return typeof value === "object" && value !== null ? value as Section : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
