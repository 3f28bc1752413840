import type { Config } from "../../config/config.ts";
import { withListedFacts } from "../../vendors/catalog/live_catalog.ts";
import { factLayers } from "../../conversation/models/known_models.ts";
import type { ListedFacts } from "../../conversation/facts/model_facts.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";
import { enumerated, type Finding, ok } from "./finding.ts";

/**
 * Tells what is known of the configured text models, and where it comes from.
 *
 * @param listed What vendors' lists state, of providers whose lists the gateway reads. Default: nothing.
 */
export function checkFacts(
  { models: configured, providers }: Pick<Config, "models" | "providers">,
  listed: ListedFacts = {},
): Finding {
  const models = withListedFacts(configured, listed);
  const sources = new Map<string, number>();
  const unknown: string[] = [];
  let known = 0;
  for (const model of models) {
    if (!model.architecture.outputModalities.includes("text")) continue;
    for (const { provider, model: name } of model.serves) {
      const layers = factLayers(name, model, { ...ownValue(providers, provider), name: provider });
      if (layers.length === 0) unknown.push(`${model.id} (${name} at ${provider})`);
      else known++;
      for (const { source } of layers) sources.set(source, (sources.get(source) ?? 0) + 1);
    }
  }
  const found = [...sources].map(([source, count]) => `${source} (${count})`);
  const texts = [
    ...known > 0 ? [`what ${known} models take is known by ${enumerated(found)}`] : [],
    ...unknown.length > 0 ? [`nothing is known of ${enumerated(unknown)}, whose requests are not adapted`] : [],
  ];
  return ok("facts", texts.length === 0 ? "there are no text models" : texts.join("; "));
}
