import { hasStatedPrice, type Model } from "../catalog/model.ts";
import type { Problems } from "./problems.ts";

const EXPECTATION = 'at least one price, or "free" for a model that costs nothing';
/** The providers of simulated vendors. Source: docs/sandbox.md. */
const SANDBOX = /^sandbox(?:-|$)/;

/**
 * Refuses models without a price, which would be served free. Those of simulated vendors need none. Models of a
 * provider's list without a price are left out elsewhere.
 *
 * @param models The models that could be read, each with its index in the list.
 */
export function refuseUnpriced(models: readonly (readonly [index: number, model: Model])[], problems: Problems): void {
  for (const [index, model] of models) {
    const isSimulated = model.serves.every(({ provider }) => SANDBOX.test(provider));
    if (isSimulated || hasStatedPrice(model)) continue;
    problems.addPlain(["models", index, "pricing"], `${EXPECTATION} ("${model.id}")`, "nothing");
  }
}
