import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Vector } from "./vector_list.ts";
import type { WholeExchange } from "../call/whole_exchange.ts";

/** One text to embed. */
export interface EmbeddingInput {
  /** The text; null for token ids, and for content that is not one text. */
  readonly text: string | null;
  /** The ids of tokens in place of a text; else null. */
  readonly tokens: readonly number[] | null;
  /** The request of the content format that it was sent as, without the model; else null. */
  readonly request: JsonObject | null;
}

/** A request for embeddings, independent of the caller's format. */
export interface EmbeddingOrder {
  /** The vendor's name of the model. */
  readonly model: string;
  /** At least one. */
  readonly inputs: readonly EmbeddingInput[];
  /** The requested numbers of each vector; null for the model's own. */
  readonly dimensions: number | null;
  /** The encoding that the caller requested, or null if it requested none; any may be returned. */
  readonly encoding: Vector["encoding"] | null;
  /** Further fields of the caller's request, in the format of OpenAI. */
  readonly extras: JsonObject;
}

/** A vendor's reply. */
export interface EmbeddingOutcome {
  /** One for each input, in their order. */
  readonly vectors: readonly Vector[];
  /** The input tokens that the vendor reports, as it wrote them; null without a report. */
  readonly reportedTokens: unknown;
}

/** The embeddings of one provider. */
export interface EmbeddingUpstream {
  /** The maximum number of inputs of one request; null if the model alone limits it. */
  readonly maxInputs: number | null;
  /** What of an order the vendor's format lacks, as the end of an error message; null if it can be sent. */
  unsupported(order: Pick<EmbeddingOrder, "inputs">): string | null;
  /** The fields of an order that are not sent, in the spelling of their format. */
  dropped(order: Pick<EmbeddingOrder, "model" | "inputs" | "extras">): readonly string[];
  /**
   * Makes the embeddings.
   *
   * @throws {UpstreamFailure} `broken` also for a reply without exactly one vector for each input.
   */
  embed(order: EmbeddingOrder, exchange: WholeExchange): Promise<EmbeddingOutcome>;
}
