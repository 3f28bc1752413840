import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { type Members, parametersOf, type TypeRef } from "../../tests/loss/parameters.ts";
import type { Components, JsonSchema } from "./schema.ts";

/** What the gateway itself demands of a request, and adds to it. */
export interface RequestRules {
  /** The component's name: `ChatCompletionRequest`. Its parts are named with `prefix`. */
  readonly name: string;
  readonly prefix: string;
  readonly description: string;
  /** Schemas of members that replace or extend those of the format. */
  readonly members: Readonly<Record<string, JsonSchema>>;
  /** Members that must be there. Default: those of the format. */
  readonly required?: readonly string[];
  /** How many types below the request are described; deeper ones are any object. */
  readonly depth: number;
}

/**
 * The schema of a text request, from the types of the format's official client, which the tests of translated fields
 * read, too. Requests pass to vendors of their format as they are, so every object may have further members, and a list
 * of words may have further words. A member that is null counts as absent.
 */
export async function requestSchema(
  components: Components,
  format: CallerFormatName,
  rules: RequestRules,
): Promise<JsonSchema> {
  const { package: name, types } = await parametersOf(format);
  const writer = new TypeWriter(components, { types, prefix: rules.prefix });
  const { Request: members = {} } = types;
  const written = writer.object(members, rules.depth, true);
  return components.add(rules.name, {
    ...written,
    description: `${rules.description} The members are those of the client library ${name}.`,
    properties: { ...written.properties as JsonSchema, ...rules.members },
    required: rules.required ?? written.required,
  });
}

interface Table {
  readonly types: Readonly<Record<string, Members>>;
  readonly prefix: string;
}

class TypeWriter {
  readonly #names: ReadonlyMap<string, string>;
  readonly #begun = new Set<string>();
  readonly #depths: ReadonlyMap<string, number>;

  constructor(readonly components: Components, readonly table: Table) {
    this.#names = namesOf(table.types);
    this.#depths = depthsIn(table.types);
  }

  /** Only what tells objects apart is required below the request: vendors check the rest themselves. */
  object(members: Members, depth: number, isRequest = false): JsonSchema {
    const entries = Object.entries(members);
    const properties = entries.map(([key, ref]) => {
      const schema = this.#schemaOf(ref, depth, isTag(key));
      return [nameOf(key), key.endsWith("?") ? orNull(schema) : schema];
    });
    const required = entries.flatMap(([key]) => key.endsWith("?") || !(isRequest || isTag(key)) ? [] : [key]);
    return {
      type: "object",
      properties: Object.fromEntries(properties),
      ...required.length > 0 && { required },
      additionalProperties: true,
    };
  }

  #schemaOf(ref: TypeRef, depth: number, isTagged = false): JsonSchema {
    if (ref === "text") return { type: "string" };
    if (ref === "any") return {};
    if (typeof ref === "string") return { type: ref };
    if ("words" in ref) return isTagged ? { type: "string", enum: ref.words } : { type: "string", examples: ref.words };
    if ("list" in ref) return { type: "array", items: this.#schemaOf(ref.list, depth) };
    if ("union" in ref) return this.#unionOf(ref.union, depth);
    return this.#component(ref.type, depth);
  }

  /** A union whose objects differ by their `type` also accepts an object with another `type`. */
  #unionOf(refs: readonly TypeRef[], depth: number): JsonSchema {
    const branches = refs.map((ref) => this.#schemaOf(ref, depth));
    const tags = refs.flatMap((ref) => this.#tagOf(ref));
    const isTagged = tags.length > 1;
    const other = { type: "object", properties: { type: { type: "string", not: { enum: [...new Set(tags)] } } } };
    const unique = new Map([...branches, ...isTagged ? [{ ...other, required: ["type"] }] : []].map((each) => [
      JSON.stringify(each),
      each,
    ]));
    return unique.size === 1 ? branches[0] ?? {} : { anyOf: [...unique.values()] };
  }

  #tagOf(ref: TypeRef): readonly string[] {
    if (typeof ref === "string" || !("type" in ref)) return [];
    const { type: tag } = this.table.types[ref.type] ?? {};
    return typeof tag === "object" && "words" in tag ? tag.words : [];
  }

  #component(type: string, depth: number): JsonSchema {
    if ((this.#depths.get(type) ?? Infinity) > depth) return { type: "object", additionalProperties: true };
    const name = this.table.prefix + (this.#names.get(type) ?? type);
    if (!this.#begun.has(name)) {
      this.#begun.add(name);
      this.components.add(name, this.object(this.table.types[type] ?? {}, depth));
    }
    return { $ref: `#/components/schemas/${name}` };
  }
}

/** A member that is null counts as absent. */
function orNull(schema: JsonSchema): JsonSchema {
  if (Object.keys(schema).length === 0) return schema;
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: "null" }] };
  const isPlain = typeof schema.type === "string" && schema.enum === undefined;
  return isPlain ? { ...schema, type: [schema.type, "null"] } : { anyOf: [schema, { type: "null" }] };
}

/** The member that tells apart the objects of a union. */
function isTag(key: string): boolean {
  return ["type", "role"].includes(nameOf(key));
}

function nameOf(key: string): string {
  return key.replace(/\?$/, "");
}

/** A name for each type. Types whose members are equal share one, since clients declare many of them several times. */
function namesOf(types: Table["types"]): ReadonlyMap<string, string> {
  let names = new Map(Object.keys(types).map((type) => [type, type]));
  for (;;) {
    const firsts = new Map<string, string>();
    const merged = new Map(
      Object.entries(types).map(([type, members]) => {
        const text = JSON.stringify(members, (key, value) => key === "type" && names.get(value) || value);
        const shape = `${type.replace(/_\d+$/, "")} ${text}`;
        const first = firsts.get(shape) ?? type;
        firsts.set(shape, first);
        return [type, first];
      }),
    );
    if ([...merged].every(([type, name]) => names.get(type) === name)) return named(merged);
    names = merged;
  }
}

/** Without what the client's own naming adds: the word for its newest types, numbers where they are not needed. */
function named(merged: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const short = (type: string) => type.replace(/^(ChatCompletion|Response|Beta)(?=[A-Z])/, "").replace(/Params?$/, "");
  const counts = new Map<string, Set<string>>();
  for (const type of merged.values()) {
    const plain = short(type.replace(/_\d+$/, ""));
    counts.set(plain, (counts.get(plain) ?? new Set()).add(type));
  }
  return new Map([...merged].map(([type, first]) => {
    const plain = short(first.replace(/_\d+$/, ""));
    const alike = [...counts.get(plain) ?? []];
    return [type, alike.length === 1 ? plain : `${plain}${alike.indexOf(first) + 1}`];
  }));
}

/** How many steps each type is below the request. */
function depthsIn(types: Table["types"]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>([["Request", 0]]);
  for (const [type, depth] of depths) {
    const text = JSON.stringify(types[type] ?? {});
    for (const [, next = ""] of text.matchAll(/\{"type":"(\w+)"\}/g)) {
      if (next in types && !depths.has(next)) depths.set(next, depth + 1);
    }
  }
  return depths;
}
