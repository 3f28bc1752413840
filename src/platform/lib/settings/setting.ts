import * as z from "zod";
import { type CamelCase, camelCase } from "./camel_case.ts";
import { type Measure, optional, type TraitsOf, traitsOf } from "./settings.ts";

/** What is said about a setting, next to its type. */
export interface SettingFacts<Name extends string = string> {
  /** What it does: a phrase without a full stop at its end. Its links are those of docs/configuration.md. */
  readonly text: string;
  /** The value of a setting that is left out, as an operator would write it. Default: it is required. */
  readonly default?: unknown;
  /** A valid value other than the default. Default: one that follows from the type. */
  readonly example?: unknown;
  /** Of a number whose type does not name its unit. */
  readonly unit?: string;
  /** The effect of leaving it out, where no value stands for that. */
  readonly otherwise?: string;
  /** Whether a change takes effect without a restart. Default: as its section. */
  readonly isLive?: boolean;
  /** Whether its value is never shown. Default: whether its type is a secret. */
  readonly isSecret?: boolean;
  /** The environment variable that overrides it. Default: none. */
  readonly variable?: string;
  /** Whether gateways on one store have different values. Default: false. */
  readonly isLocal?: boolean;
  /** Its name in the code. Default: the same in camel case, with `Ms` or `Bytes` by its type. */
  readonly as?: Name;
  /** The value that was read as an operator would write it. Default: by its type. */
  readonly write?: (value: never) => unknown;
}

/** The facts of each schema that {@linkcode setting} returned. */
const FACTS = new WeakMap<z.ZodType, SettingFacts>();

/** The facts of a setting; null for a schema that is none. */
export function factsOf(schema: z.ZodType): SettingFacts | null {
  return FACTS.get(schema) ?? null;
}

/** Whether the value of a setting is never shown. */
export function isSecretSetting(schema: z.ZodType): boolean {
  return factsOf(schema)?.isSecret ?? traitsOf(schema).isSecret ?? false;
}

/** A schema with the name of its setting in the code. */
interface Named<Name extends string> {
  readonly codeName: Name;
}

type NameIn<Name extends string> = [Name] extends [never] ? unknown : Named<Name>;

/**
 * One setting: its type, and everything that is said about it. The reference page, the schema for editors, the answer
 * of `GET /admin/v1/config` and what needs a restart are made from it. See
 * docs/decisions/0304-a-setting-is-one-entry.md.
 *
 * @param type What an operator writes. With `default: null` it can be left out or empty, and is null then.
 */
export function setting<Type extends z.ZodType, Name extends string = never>(
  type: Type,
  facts: SettingFacts<Name> & { readonly default: null },
): z.ZodType<z.output<Type> | null> & TraitsOf<Type> & NameIn<Name>;
export function setting<Type extends z.ZodType, Name extends string = never>(
  type: Type,
  facts: SettingFacts<Name> & { readonly default: NonNullable<unknown> },
): z.ZodType<z.output<Type>> & TraitsOf<Type> & NameIn<Name>;
export function setting<Type extends z.ZodType, Name extends string = never>(
  type: Type,
  facts: SettingFacts<Name> & { readonly default?: never },
): Type & NameIn<Name>;
export function setting(type: z.ZodType, facts: SettingFacts): z.ZodType {
  const schema = withDefault(type, facts.default);
  FACTS.set(schema, facts);
  return Object.assign(schema, traitsOf(type), facts.as !== undefined && { codeName: facts.as });
}

/** A separate schema, as the same type can be that of several settings. */
function withDefault(type: z.ZodType, value: unknown): z.ZodType {
  if (value === undefined) return type.clone();
  return value === null ? optional(type) : type.prefault(value);
}

/** The fields of a section: settings and further sections, by the names that operators write. */
export type Fields = Readonly<Record<string, z.ZodType>>;

type Ending<Type> = Type extends { readonly measure: infer Of extends Measure } ? (typeof ENDINGS)[Of] : "";
type WithEnding<Name extends string, End extends string> = Lowercase<Name> extends `${string}${Lowercase<End>}` ? Name
  : `${Name}${End}`;
type CodeName<Name extends string, Type> = Type extends Named<infer Own> ? Own
  : WithEnding<CamelCase<Name>, Ending<Type>>;

/** The fields of a section by their names in the code. */
export type Read<Shape extends Fields, Written = z.output<z.ZodObject<Shape>>> = {
  readonly [Name in keyof Written as CodeName<Name & string, Shape[Name & string]>]: Exclude<Written[Name], undefined>;
};

/** The ends of names of values that are measured. */
const ENDINGS = { seconds: "Ms", days: "Ms", bytes: "Bytes" } as const;

/** A section of settings. What is read has the names of the code: `textBodyBytes` for `text_body`. */
export function section<Shape extends Fields>(fields: Shape): z.ZodType<Read<Shape>> {
  const names = new Map(Object.entries(fields).map(([name, type]) => [name, codeNameOf(name, type)]));
  return z.strictObject(fields).transform((written) => {
    const given = Object.entries(written).filter(([, value]) => value !== undefined);
    return Object.fromEntries(given.map(([name, value]) => [names.get(name) ?? name, value])) as Read<Shape>;
  });
}

/** The name in the code of a field. */
export function codeNameOf(name: string, type: z.ZodType): string {
  const { as } = factsOf(type) ?? {};
  if (as !== undefined) return as;
  const inCode = camelCase(name);
  const { measure } = traitsOf(type);
  const end = measure === undefined ? "" : ENDINGS[measure];
  return inCode.toLowerCase().endsWith(end.toLowerCase()) ? inCode : inCode + end;
}

/** The fields of a section; null for a schema of another kind. */
export function fieldsOf(schema: z.ZodType): [name: string, type: z.ZodType][] | null {
  const inner = withoutWrappers(schema);
  return inner instanceof z.ZodObject ? Object.entries(inner.shape) as [string, z.ZodType][] : null;
}

/** The schema of what an operator writes, below defaults, optional values and transformations. */
export function withoutWrappers(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional
  ) return withoutWrappers(schema.unwrap() as z.ZodType);
  if (!(schema instanceof z.ZodPipe)) return schema;
  // A preprocessed value is a pipe that begins with a function.
  return withoutWrappers((schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType);
}
