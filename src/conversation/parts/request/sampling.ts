import type { Effort } from "../../neutral/conversation.ts";
import type { ModelFacts } from "../../facts/model_facts.ts";

/**
 * Whether a model accepts `temperature`, `top_p` and penalties in a request.
 *
 * @param effort The effort that the request names; null when it names none.
 */
export function takesSampling({ samplingSupport: samples, defaultEffort }: ModelFacts, effort: Effort | null): boolean {
  if (samples === "never") return false;
  return samples !== "without_reasoning" || (effort ?? defaultEffort) === "none";
}
