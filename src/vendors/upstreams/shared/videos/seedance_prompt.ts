/**
 * The options that Seedance reads from prompts: length, size, frame rate, audio and tier, at any position. Source: Ark
 * API reference, "Create a video generation task", "Parameters in the text prompt".
 */
const OPTION =
  /--(?:dur|duration|frames|fr|rs|resolution|fps|framespersecond|generate_?audio|service_?tier|draft)(?![\w-])/i;

/** Returns the first option in a prompt that changes the price of a Seedance video; null if there is none. */
export function seedanceOptionIn(prompt: string): string | null {
  return OPTION.exec(prompt)?.[0] ?? null;
}

/** The same for vendors that route to models of many makers, by the name of the model. */
export function routedOptionIn(prompt: string, model: string): string | null {
  return /seedance/i.test(model) ? seedanceOptionIn(prompt) : null;
}
