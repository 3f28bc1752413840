/** Returns a model's name without the collection `models/`, which the Gemini API and its clients put before it. */
export function bareModelName(modelName: string): string {
  return modelName.replace(/^models\//, "");
}
