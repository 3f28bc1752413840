import { assert, assertEquals } from "@std/assert";
import { parse } from "yaml";
import type { ImportResult } from "../../src/entry/cli/import/imported_config.ts";

/** A secret in a source. */
export const LITERAL = "sk-literal-of-the-source";

/** What an import wrote, parsed. It has no problems, and no literal secret is in it or in the report. */
export function written({ yaml, dropped, problems }: ImportResult) {
  assertEquals(problems, []);
  assert(!`${yaml}${dropped.join("\n")}`.includes(LITERAL));
  return parse(yaml);
}

/** A configuration of a LiteLLM proxy. */
export const LITELLM = {
  model_list: [
    {
      model_name: "fast",
      litellm_params: { model: "openai/gpt-5.4-mini", api_key: "os.environ/OPENAI_API_KEY", weight: 3, rpm: 60 },
    },
    {
      model_name: "fast",
      litellm_params: {
        model: "azure/mini",
        api_base: "https://acme.openai.azure.com/",
        api_key: LITERAL,
        api_version: "v1",
      },
      model_info: { base_model: "azure/gpt-5.4-mini" },
    },
    { model_name: "local", litellm_params: { model: "ollama/llama3.2", api_base: "http://gpu:11434" } },
    {
      model_name: "team/large",
      litellm_params: { model: "groq/openai/gpt-oss-120b", temperature: 0.1 },
      model_info: { input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7, output_cost_per_token_priority: 1e-6 },
    },
    { model_name: "vectors", litellm_params: { model: "text-embedding-3-small" } },
    { model_name: "elsewhere", litellm_params: { model: "elevenlabs/scribe" } },
    { model_name: "anthropic/*", litellm_params: { model: "anthropic/*", api_key: "os.environ/ANTHROPIC_API_KEY" } },
    { model_name: "*", litellm_params: { model: "openai/*", api_key: "os.environ/OPENAI_API_KEY" } },
  ],
  litellm_settings: { fallbacks: [{ fast: ["local", "elsewhere"] }], drop_params: true },
  router_settings: { model_group_alias: { "gpt-4": "fast", lost: "elsewhere" } },
  general_settings: { master_key: LITERAL, database_url: "postgresql://user:password@db/x" },
};
