import type { ModelTraits } from "./model_traits.ts";

/** What the parts of a request are written for. */
export interface Writing {
  readonly traits: ModelTraits;
  /** Receives the neutral names of what is left out. */
  readonly droppedFields: Set<string>;
}
