/**
 * What Seedance reads in prompts beside words: length, size, frames a second, sound and tier, at any place. Source: Ark
 * API reference, "Create a video generation task", "Parameters in the text prompt".
 */
const OPTION =
  /--(?:dur|duration|frames|fr|rs|resolution|fps|framespersecond|generate_?audio|service_?tier|draft)(?![\w-])/i;

/** The first option in a prompt that decides what a video of Seedance costs; null when there is none. */
export function seedanceOptionIn(prompt: string): string | null {
  return OPTION.exec(prompt)?.[0] ?? null;
}

/** The same for vendors that hand prompts on to the makers of many models, by the name of the model. */
export function routedOptionIn(prompt: string, model: string): string | null {
  return /seedance/i.test(model) ? seedanceOptionIn(prompt) : null;
}
