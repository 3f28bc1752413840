import * as z from "zod";
import { assert } from "@std/assert";

/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = { [name: string]: unknown };

/** The schemas of a description by name, collected while it is written. */
export class Components {
  readonly #schemas = new Map<string, string>();

  /**
   * The JSON Schema of what a zod schema takes. Schemas with an id (`.meta({ id })`) become components, and are
   * referred to.
   *
   * @throws {Error} If two schemas have one id.
   */
  schemaOf(schema: z.ZodType): JsonSchema {
    const whole: JsonSchema = z.toJSONSchema(z.object({ root: schema }), {
      io: "input",
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => describe(zodSchema, jsonSchema),
    });
    const { properties, $defs = {} } = whole as {
      properties: { root: JsonSchema };
      $defs?: Record<string, JsonSchema>;
    };
    for (const [name, component] of Object.entries($defs)) this.add(name, component);
    return withReferences(properties.root);
  }

  /** Adds a schema that was not written with zod. */
  add(name: string, schema: JsonSchema): JsonSchema {
    const { id: _, ...rest } = schema;
    const text = JSON.stringify(withReferences(rest));
    const known = this.#schemas.get(name);
    assert(known === undefined || known === text, `Two schemas have the name ${name}`);
    this.#schemas.set(name, text);
    return { $ref: `#/components/schemas/${name}` };
  }

  /** All of them, sorted by name. */
  all(): Record<string, JsonSchema> {
    const sorted = [...this.#schemas].sort(([one], [other]) => one < other ? -1 : 1);
    return Object.fromEntries(sorted.map(([name, text]) => [name, JSON.parse(text)]));
  }
}

/** Adds what zod's own conversion leaves out: the phrase that an error would say is expected, and looser inputs. */
function describe(schema: z.core.$ZodTypes, written: JsonSchema): void {
  const { def } = schema._zod;
  const phrase = phraseOf(def);
  if (phrase !== null && written.$ref === undefined) written.description ??= `Expected: ${phrase}.`;
  if (def.type === "pipe" && isRead(def)) widen(written);
  if (def.type === "object") requireRead(def.shape, written);
  if (JSON.stringify(written.propertyNames) === '{"type":"string"}') delete written.propertyNames;
  for (const bound of ["minimum", "maximum"]) {
    if (Math.abs(Number(written[bound])) === MAX_INTEGER) delete written[bound];
  }
}

/** The bounds of every integer, which say nothing. */
const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

/** The error texts of the schemas of bodies are noun phrases that continue "expected". */
function phraseOf(def: z.core.$ZodTypeDef): string | null {
  const text = def.error?.({ code: "invalid_type", input: undefined, message: "" } as never);
  return typeof text === "string" ? text : null;
}

/** Whether a value is read from another type, such as a number from text. */
function isRead(def: z.core.$ZodPipeDef): boolean {
  return def.in._zod.def.type === "transform" && def.out._zod.def.type !== "pipe";
}

/** A value that is read from a number or a text is one of both. */
function widen(written: JsonSchema): void {
  const { type, description: _, ...rules } = written;
  if (type !== "string" && type !== "integer" && type !== "number") return;
  delete written.type;
  for (const name of Object.keys(rules)) delete written[name];
  written.anyOf = [{ type, ...rules }, { type: type === "string" ? "number" : "string" }];
}

/** Zod takes any value for one that is read, also none, and so never requires it. */
function requireRead(shape: z.core.$ZodLooseShape, written: JsonSchema): void {
  const read = Object.entries(shape).filter(([, schema]) => {
    const { def } = innerOf(schema)._zod;
    return def.type === "pipe" && isRead(def) && !schema.safeParse(undefined).success;
  });
  const { required = [] } = written as { required?: string[] };
  const names = new Set([...required, ...read.map(([name]) => name)]);
  if (names.size > 0) written.required = Object.keys(shape).filter((name) => names.has(name));
}

/** The schema before its transformations. */
function innerOf(schema: z.core.$ZodTypes): z.core.$ZodTypes {
  const { def } = schema._zod;
  return def.type === "pipe" && !isRead(def) ? innerOf(def.in as z.core.$ZodTypes) : schema;
}

function withReferences<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'));
}

/**
 * A schema of a reply whose shape the source declares as a type: the compiler refuses it if it lacks a field, or has
 * one of another type. `written<Account>()(z.object({ … }))`.
 */
export function written<T>(): <S extends z.ZodType<T>>(schema: S) => S {
  return (schema) => schema;
}

/** Unix seconds. */
export const seconds: () => z.ZodNumber = () => z.int().meta({ description: "Unix seconds." });

/** An amount of money. */
export const usd: (about?: string) => z.ZodString = (about) =>
  z.string().regex(/^-?\d+(\.\d+)?$/).meta({ description: `${about ?? "An amount"}: US dollars as a decimal.` });

/** A field whose meaning its name does not state. */
export function about<S extends z.ZodType>(schema: S, description: string): S {
  return schema.meta({ ...schema.meta(), id: undefined, description });
}
