import type { Admission } from "../billing/meter.ts";
import { costOf, type Prices } from "../billing/price.ts";
import { promptTokensOf, type Usage } from "../conversation/usage.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { writeMoney } from "../lib/money.ts";

/** What a turn is charged by. */
export interface SettlementFacts {
  readonly requestId: string;
  readonly accountId: string;
  /** The catalog's id. */
  readonly model: string;
  readonly prices: Prices;
  /** Unix milliseconds at which the request came. */
  readonly receivedAt: number;
}

/** Charges one turn, once, whichever way it ends. */
export class Settlement {
  #settled = false;

  constructor(
    readonly facts: SettlementFacts,
    readonly admission: Admission,
    readonly clock: Clock,
    readonly log: Log,
  ) {}

  /** Charges for a usage; resolves when the charge is durable. A second call does nothing. */
  async charge(provider: string, usage: Usage, state: "completed" | "cut" | "left"): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    const { requestId, accountId, model, prices, receivedAt } = this.facts;
    const amount = costOf(usage, prices);
    await this.admission.charge({ kind: "text", requestId, model, provider, amount, usage });
    this.log.info("turn_charged", {
      requestId,
      accountId,
      model,
      provider,
      state: usage.estimated ? `${state}, estimated` : state,
      inputTokens: promptTokensOf(usage),
      outputTokens: usage.outputTokens,
      cost: writeMoney(amount),
      durationMs: this.clock.now() - receivedAt,
    });
  }

  /** Ends the turn without a charge. */
  release(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.admission.release();
  }
}
