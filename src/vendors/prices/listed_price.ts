import type { SourcedModel } from "../catalog/sourced_model.ts";

/** A model of a price list. */
export interface ListedPrice {
  /** The first part of the ids of the vendor's built-in models. */
  readonly family: string;
  /** The vendor's name of the model. */
  readonly name: string;
  /** What the list calls it. */
  readonly place: string;
  readonly sourced: SourcedModel;
}
