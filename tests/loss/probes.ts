import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { atLeast, itemAt, valueAt } from "../support/items.ts";
import type { Members, Parameters, TypeRef } from "./parameters.ts";
import { elementsBefore, LINKS, NEEDED, sampleNumber, sampleOther, sampleText } from "./sample_values.ts";
import { scaffolded } from "./scaffold.ts";

/** One step of a path: a member, and the kind of the object that it leads to. */
export interface Step {
  readonly key: string;
  readonly kinds: readonly string[];
}

/** Two requests that differ in one parameter. */
export interface Probe {
  readonly steps: readonly Step[];
  /** The path and the value, for messages. */
  readonly title: string;
  readonly with: JsonObject;
  readonly without: JsonObject;
}

type Wrap = (value: unknown) => JsonObject;

/**
 * Probes of all parameters of a format: present and absent, every literal, every kind of object, and `{}` for objects.
 */
export function probesOf(format: CallerFormatName, { types }: Parameters): Probe[] {
  const found: Probe[] = [];
  const minimalRequest = minimalOf({ type: "Request" }, "", new Set()) as JsonObject;
  visitMembers("Request", minimalRequest, (value) => value as JsonObject, [], new Set());
  return found;

  function visitMembers(type: string, base: JsonObject, wrap: Wrap, steps: readonly Step[], above: Set<string>): void {
    if (above.has(type)) return;
    const within = new Set(above).add(type);
    for (const [written, ref] of Object.entries(valueAt(types, type))) {
      // A part has one payload.
      const { inlineData: _usual, ...bare } = base;
      const own = type === "Part" && PAYLOADS.test(written) ? bare : base;
      const name = written.endsWith("?") ? written.slice(0, -1) : written;
      const isOptional = written.endsWith("?") && !(name in neededIn(type));
      const place: Wrap = (value) => {
        const { [name]: _, ...others } = own;
        return wrap(value === undefined ? others : { ...others, [name]: value });
      };
      const without = isOptional ? undefined : own[name];
      visit(ref, name, place, without, [...steps, { key: name, kinds: [] }], within);
    }
  }

  function visit(ref: TypeRef, name: string, place: Wrap, without: unknown, steps: Step[], above: Set<string>): void {
    if (typeof ref !== "string" && "union" in ref) {
      for (const each of ref.union) visit(each, name, place, without, steps, above);
      return;
    }
    if (typeof ref !== "string" && "list" in ref) {
      const before = elementsBefore(format, name);
      const inList: Wrap = (value) => place(value === undefined ? before : [...before, value]);
      visitElement(ref.list, name, inList, before.length > 0 ? undefined : { place, without }, steps, above);
      return;
    }
    for (const value of valuesOf(ref, name, above)) add(steps, value, place(value), place(without));
    if (typeof ref !== "string" && "type" in ref) visitObject(ref.type, name, place, steps, above);
  }

  /** @param alone The request without the list, when the sample is its only element. */
  function visitElement(
    ref: TypeRef,
    name: string,
    inList: Wrap,
    alone: { place: Wrap; without: unknown } | undefined,
    steps: Step[],
    above: Set<string>,
  ): void {
    if (typeof ref !== "string" && "union" in ref) {
      for (const each of ref.union) visitElement(each, name, inList, alone, steps, above);
      return;
    }
    if (typeof ref !== "string" && "list" in ref) return; // no format has nested lists
    const kinds = typeof ref !== "string" && "type" in ref ? kindsOf(valueAt(types, ref.type)) : [];
    const at = [...steps.slice(0, -1), { key: name, kinds }];
    const absent = alone === undefined ? inList(undefined) : alone.place(alone.without);
    for (const value of valuesOf(ref, name, above)) {
      if (isEmptyObject(value)) continue; // an empty element is not a parameter
      add(at, value, inList(value), absent);
    }
    if (typeof ref !== "string" && "type" in ref) visitObject(ref.type, name, inList, at, above);
  }

  function visitObject(type: string, name: string, wrap: Wrap, steps: Step[], above: Set<string>): void {
    const kinds = kindsOf(valueAt(types, type));
    const at = [...steps.slice(0, -1), { key: name, kinds }];
    visitMembers(type, minimalOf({ type }, name, above) as JsonObject, wrap, at, above);
  }

  function add(steps: readonly Step[], value: unknown, withIt: JsonObject, without: JsonObject): void {
    const [one, other] = atLeast([withIt, without].map((body) => scaffolded(format, body, steps)), 2);
    if (JSON.stringify(one) === JSON.stringify(other)) return;
    const path = steps.map(({ key, kinds }) => kinds.length === 0 ? key : `${key}<${kinds[0]}>`).join(".");
    const shown = JSON.stringify(value) ?? "";
    found.push({ steps, title: `${path} = ${shown.slice(0, 60)}`, with: one, without: other });
  }

  function valuesOf(ref: TypeRef, name: string, above: Set<string>): unknown[] {
    switch (ref) {
      case "text":
        return LINKS.has(name) ? [] : [sampleText(name, format), ...name in FREE ? [] : [`other ${name}`]];
      case "number":
        return [sampleNumber(name)];
      case "boolean":
        return [true, false];
      case "any":
        return [sampleOther(name), {}];
    }
    if ("words" in ref) return [...ref.words];
    if ("type" in ref) return above.has(ref.type) ? [] : [minimalOf(ref, name, above), {}];
    return [];
  }

  function minimalOf(ref: TypeRef, name: string, above: ReadonlySet<string>): unknown {
    switch (ref) {
      case "text":
        return sampleText(name, format);
      case "number":
        return sampleNumber(name);
      case "boolean":
        return true;
      case "any":
        return sampleOther(name);
    }
    if ("words" in ref) return ref.words[0];
    if ("union" in ref) return minimalOf(itemAt(ref.union, 0), name, above);
    if ("list" in ref) {
      const before = elementsBefore(format, name);
      return before.length > 0 ? before : [minimalOf(ref.list, name, above)];
    }
    if (above.has(ref.type)) return {};
    const within = new Set(above).add(ref.type);
    const required = Object.entries(valueAt(types, ref.type)).filter(([member]) => !member.endsWith("?"));
    const members = Object.fromEntries(required.map(([member, each]) => [member, minimalOf(each, member, within)]));
    return { ...members, ...neededIn(ref.type) };
  }

  function neededIn(type: string): JsonObject {
    return NEEDED[format][type] ?? {};
  }
}

/** Members that determine the kind of a part in the content format. */
const PAYLOADS = /^(text|fileData|function|tool|executableCode|codeExecution|audioTranscription)/;

/** Texts for which a second value would be rejected. */
const FREE: Readonly<Record<string, true>> = {
  url: true,
  image_url: true,
  file_data: true,
  file_url: true,
  fileUri: true,
  data: true,
  mimeType: true,
  role: true,
  arguments: true,
  name: true,
};

/** The kinds of an object: its `type` or its role. */
function kindsOf(members: Members): string[] {
  return ["type", "type?", "role"].flatMap((name) => {
    const ref = members[name];
    return typeof ref === "object" && "words" in ref ? ref.words : [];
  });
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}
