import type { AcceptedSchema, SchemaDialect } from "../../../schemas/schema_dialect.ts";
import type { ModelTraits } from "./model_traits.ts";

/** What the parts of a request are written for. */
export interface Writing {
  readonly traits: ModelTraits;
  /** What the model accepts in schemas. */
  readonly dialect: SchemaDialect;
  /** The schema of the reply; null where none is requested. */
  readonly format: AcceptedSchema | null;
  /** Receives the neutral names of what is left out. */
  readonly droppedFields: Set<string>;
}
