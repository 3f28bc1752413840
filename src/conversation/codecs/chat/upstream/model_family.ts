import type { Effort } from "../../../conversation.ts";

/**
 * What the form's author's models are, as far as their names tell: `reasoning` ones refuse sampling and take an
 * effort, `plain` ones the reverse. Other names (deployments, tunings, other vendors' models) are taken at their word.
 */
export type ModelFamily = "reasoning" | "plain" | "unknown";

/** The family of a model by the author's naming. Source: Chat Completions reference, "reasoning_effort". */
export function familyOf(model: string): ModelFamily {
  if (/^(o\d|gpt-[5-9](?!.*chat)|codex)/.test(model)) return "reasoning";
  return /^(gpt-[34]|gpt-[5-9].*chat|chatgpt)/.test(model) ? "plain" : "unknown";
}

/** The weakest effort that a reasoning model has: not all of them can be switched off. */
export function weakestEffortOf(model: string): Effort {
  if (/^gpt-5\.\d|^gpt-[6-9]/.test(model)) return "none";
  return /^gpt-5/.test(model) ? "minimal" : "low";
}
