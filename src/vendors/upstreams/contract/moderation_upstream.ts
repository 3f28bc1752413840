import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { WholeExchange } from "../call/whole_exchange.ts";

/** What is to be checked, in the format of OpenAI. */
export interface ModerationOrder {
  /** The vendor's name of the model. */
  readonly model: string;
  /** A text, a list of texts, or a list of parts that are checked together. */
  readonly input: string | readonly string[] | readonly JsonObject[];
  /** The number of expected results. */
  readonly count: number;
}

/** A vendor's reply. */
export interface ModerationOutcome {
  /** The vendor's id of the reply; null if it sent none. */
  readonly id: string | null;
  /** One for each input, in their order, as the vendor sent them: at least `flagged`, a boolean. */
  readonly results: readonly JsonObject[];
  /** The input tokens that the vendor reports, as it wrote them; null without a report. */
  readonly reportedTokens: unknown;
}

/** The moderations of one provider. */
export interface ModerationUpstream {
  /**
   * Checks inputs.
   *
   * @throws {UpstreamFailure} `broken` also for a reply without exactly one result for each input.
   */
  moderate(order: ModerationOrder, exchange: WholeExchange): Promise<ModerationOutcome>;
}
