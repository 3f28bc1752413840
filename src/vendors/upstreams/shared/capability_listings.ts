import type { ModelFacts } from "../../../conversation/facts/model_facts.ts";
import { bareModelName } from "../../../platform/names/bare_model_name.ts";
import { anthropicCapabilities, googleCapabilities } from "./listed_capabilities.ts";
import { listed, type ListedModel, listOf, type ModelListing, objectOf } from "../contract/model_listing.ts";

/** Source: Messages API reference, "List models". */
export const anthropicListing: ModelListing = {
  path: "/v1/models?limit=1000",
  readPage(response) {
    const { data, has_more: hasMore, last_id: last } = objectOf(response);
    const models = listOf(data).map((model) => {
      const capabilities = anthropicCapabilities(model);
      return withFacts(
        listed(model.id, {
          name: model.display_name,
          created: typeof model.created_at === "string" ? Date.parse(model.created_at) / 1_000 : null,
          contextLength: model.max_input_tokens,
          maxOutputTokens: model.max_tokens,
          inputModalities: capabilities.inputModalities,
        }),
        capabilities.facts,
      );
    });
    const hasNext = hasMore === true && typeof last === "string";
    const next = hasNext ? `/v1/models?limit=1000&after_id=${encodeURIComponent(last)}` : null;
    return { models: models.filter((model) => model !== null), next };
  },
};

/** Source: Gemini API reference, "models.list". */
export const googleListing: ModelListing = {
  path: "/v1beta/models?pageSize=1000",
  readPage(response) {
    const { models: list, nextPageToken: token } = objectOf(response);
    const withGeneration = listOf(list).filter(({ supportedGenerationMethods: methods }) =>
      !Array.isArray(methods) || methods.includes("generateContent")
    );
    const models = withGeneration.map((model) =>
      withFacts(
        listed(typeof model.name === "string" ? bareModelName(model.name) : null, {
          name: model.displayName,
          description: model.description,
          contextLength: model.inputTokenLimit,
          maxOutputTokens: model.outputTokenLimit,
        }),
        googleCapabilities(model).facts,
      )
    );
    const hasNext = typeof token === "string" && token !== "";
    const next = hasNext ? `/v1beta/models?pageSize=1000&pageToken=${encodeURIComponent(token)}` : null;
    return { models: models.filter((model) => model !== null), next };
  },
};

function withFacts(model: ListedModel | null, facts: Partial<ModelFacts>): ListedModel | null {
  return model === null || Object.keys(facts).length === 0 ? model : { ...model, facts };
}
