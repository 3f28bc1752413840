import type { ListedModel } from "../../shapes.ts";

/** What a model does, as far as it is chosen by that. */
export type ModelGroup = "aliases" | "text" | "vision" | "images" | "videos";

/** The groups in the order in which they are shown. */
export const MODEL_GROUPS: readonly ModelGroup[] = ["aliases", "text", "vision", "images", "videos"];

/** The models, and each alias of one as a model of that name. */
export function withAliases(models: readonly ListedModel[]): ListedModel[] {
  return models.flatMap((model) => [model, ...(model.aliases ?? []).map((id) => ({ ...model, id }))]);
}

/** The group of a model, or of one of {@linkcode withAliases}. */
export function modelGroupOf({ id, aliases = [], architecture }: ListedModel): ModelGroup {
  const { input_modalities: inputs, output_modalities: outputs } = architecture;
  if (aliases.includes(id)) return "aliases";
  if (outputs.includes("video")) return "videos";
  if (outputs.includes("image")) return "images";
  return inputs.includes("image") ? "vision" : "text";
}
