/** The model's name without the prefix `models/`. */
export function bareModelName(modelName: string): string {
  return modelName.replace(/^models\//, "");
}
