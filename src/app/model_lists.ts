import { join } from "node:path";
import type { Model } from "../catalog/model.ts";
import type { Config } from "../config/config.ts";
import { builtInFamilyOf } from "../config/environment.ts";
import { openFileDirectory } from "../files/directory.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { createModelLists, type ModelLists } from "../routing/model_lists.ts";
import type { Provider } from "../upstreams/provider.ts";

/** What the lists of providers' models share with the rest of an app. */
export interface ModelListEngineParts {
  readonly config: Config;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Called with the models of all providers whenever they are others than before. */
  readonly onChange: (models: readonly Model[]) => void;
}

/** The lists that `models` with a star ask for; kept in a folder of their own below `files`. */
export function modelListEngine({ config, providers, ...parts }: ModelListEngineParts): ModelLists {
  const names = [...new Set(config.modelPatterns.map(({ provider }) => provider))];
  return createModelLists({
    ...parts,
    files: openFileDirectory(join(config.files, "model-lists")),
    providers: names.map((name) => ({
      provider: providers.get(name)!,
      baseUrl: config.providers[name].baseUrl,
      family: builtInFamilyOf(name, config.providers[name]),
      patterns: config.modelPatterns.filter(({ provider }) => provider === name),
    })),
  });
}
