import ts from "typescript";
import { itemAt } from "../support/items.ts";
import type { TypeRef } from "./parameters.ts";

/** Members that configure the client itself or are sent as headers. */
const CLIENTS_OWN: ReadonlySet<string> = new Set(["httpOptions", "abortSignal", "automaticFunctionCalling", "betas"]);

/** JSON Schemas, which have tests of their own. */
const SCHEMAS: ReadonlySet<string> = new Set(["Schema", "SchemaUnion"]);

/** The types in a client's declarations, in a plain form. */
export class TypeTable {
  readonly types: Record<string, Record<string, TypeRef>> = {};
  readonly #names = new Map<ts.Type, string>();

  constructor(readonly checker: ts.TypeChecker) {}

  /** The members of an object type by name; optional ones end in `?`. */
  membersOf(type: ts.Type): Record<string, TypeRef> {
    const members: Record<string, TypeRef> = {};
    for (const property of this.checker.getPropertiesOfType(type)) {
      if (CLIENTS_OWN.has(property.name)) continue;
      const ref = this.#refOf(this.checker.getTypeOfSymbol(property));
      if (ref === null) continue;
      members[property.name + (property.flags & ts.SymbolFlags.Optional ? "?" : "")] = ref;
    }
    return members;
  }

  /** The type in plain form; null for functions and undefined, which are not sent. */
  #refOf(type: ts.Type): TypeRef | null {
    if (SCHEMAS.has(type.aliasSymbol?.name ?? type.symbol?.name ?? "")) return "any";
    if (type.isUnion()) return this.#unionOf(type);
    if (type.isStringLiteral()) return { words: [type.value] };
    if (type.flags & ts.TypeFlags.StringLike) return "text";
    if (type.flags & ts.TypeFlags.NumberLike) return "number";
    if (type.flags & ts.TypeFlags.BooleanLike) return "boolean";
    if (type.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null)) return null;
    if (type.isIntersection() && type.types.some((each) => each.flags & ts.TypeFlags.StringLike)) return "text";
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return "any";
    if (this.checker.isArrayType(type) || this.checker.isTupleType(type)) {
      const element = this.#refOf(itemAt(this.checker.getTypeArguments(type as ts.TypeReference), 0));
      return element === null ? null : { list: element };
    }
    if (type.getCallSignatures().length > 0) return null;
    const isOpen = this.checker.getPropertiesOfType(type).length === 0;
    return isOpen ? "any" : { type: this.#nameOf(type) };
  }

  #unionOf({ types }: ts.UnionType): TypeRef | null {
    const words = types.filter((each) => each.isStringLiteral()).map((each) => each.value);
    const others = types.filter((each) => !each.isStringLiteral() && !this.#isCallable(each))
      .map((each) => this.#refOf(each)).filter((ref) => ref !== null);
    const plain = [...new Set(others.filter((ref) => typeof ref === "string"))];
    // Literals in a union with string are examples.
    const refs: TypeRef[] = [
      ...(words.length > 0 && !plain.includes("text") ? [{ words }] : []),
      ...plain,
      ...others.filter((ref) => typeof ref !== "string"),
    ];
    return refs.length === 0 ? null : refs.length === 1 ? itemAt(refs, 0) : { union: refs };
  }

  #isCallable(type: ts.Type): boolean {
    return this.checker.getPropertiesOfType(type).some((property) =>
      type.flags & ts.TypeFlags.Object && !this.checker.isArrayType(type) &&
      this.checker.getTypeOfSymbol(property).getCallSignatures().length > 0
    );
  }

  #nameOf(type: ts.Type): string {
    const known = this.#names.get(type);
    if (known !== undefined) return known;
    const plain = (type.aliasSymbol ?? type.symbol).name;
    let name = plain;
    for (let next = 2; Object.hasOwn(this.types, name) || name === "Request"; next++) name = `${plain}_${next}`;
    this.#names.set(type, name);
    this.types[name] = {};
    this.types[name] = this.membersOf(type);
    return name;
  }
}
