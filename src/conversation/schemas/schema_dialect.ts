import type { JsonSchema } from "../neutral/conversation.ts";
import type { ModelFacts } from "../facts/model_facts.ts";
import { withoutReferences } from "./inlined_references.ts";

/** A schema as a vendor accepts it. */
export interface AcceptedSchema {
  /** To send. */
  readonly schema: JsonSchema;
  /** Whether the vendor enforces it. */
  readonly isStrict: boolean;
  /** True when it allows other values than the caller's schema, apart from limits that its descriptions name. */
  readonly isChanged: boolean;
}

/**
 * What a vendor accepts in a schema, in each mode: for tools, for strict tools, and for the format of a reply. A
 * dialect is made for one request, since some vendors limit all schemas of a request together.
 */
export interface SchemaDialect {
  /**
   * The parameters of a tool.
   *
   * @param parameters Null for a tool without arguments.
   * @param isStrict Whether the caller requests that the vendor enforces the schema.
   */
  parameters(parameters: JsonSchema | null, isStrict: boolean): AcceptedSchema;
  /** The format of a reply, likewise. */
  output(schema: JsonSchema, isStrict: boolean): AcceptedSchema;
}

/** A dialect for a model, which may not read `$ref`. */
export function dialectFor(
  { hasSchemaReferences }: Pick<ModelFacts, "hasSchemaReferences">,
  dialect: SchemaDialect,
): SchemaDialect {
  return hasSchemaReferences === false ? withInlining(dialect) : dialect;
}

function withInlining(dialect: SchemaDialect): SchemaDialect {
  return {
    parameters(parameters, isStrict) {
      if (parameters === null) return dialect.parameters(null, isStrict);
      const { schema, isRelaxed } = withoutReferences(parameters);
      const accepted = dialect.parameters(schema, isStrict);
      return isRelaxed ? { ...accepted, isChanged: true } : accepted;
    },
    output(whole, isStrict) {
      const { schema, isRelaxed } = withoutReferences(whole);
      const accepted = dialect.output(schema, isStrict);
      return isRelaxed ? { ...accepted, isChanged: true } : accepted;
    },
  };
}
