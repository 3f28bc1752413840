import { textQuantitiesOf } from "../billing/text_quantities.ts";
import type { EndState } from "../calls/settlement.ts";
import type { Usage } from "../conversation/usage.ts";
import type { TextAttempt } from "./attempt.ts";

/** Charges a request for text by its usage; resolves when the charge is durable. A second call does nothing. */
export async function chargeText(
  { settlement, provider, model }: Pick<TextAttempt, "settlement" | "provider" | "model">,
  usage: Usage,
  state: EndState,
): Promise<void> {
  const parts = [{ quantities: textQuantitiesOf(usage), tariff: model.tariff }];
  await settlement.charge({ provider: provider.name, state, parts, usage });
}
