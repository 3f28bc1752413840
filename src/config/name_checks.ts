import { isAliasName } from "../vendors/catalog/alias_name.ts";
import { SECTION_NAMES } from "../vendors/catalog/sections/capability_sections.ts";
import { bareNameOf, providerPartOf } from "../vendors/catalog/catalog.ts";
import { isSection, type Section } from "./tree/section.ts";
import type { Problems } from "./tree/problems.ts";
import type { Path } from "./tree/setting_path.ts";
import { nearestWord } from "../platform/lib/text/nearest_word.ts";

/** The kinds of output of a model, which its fallbacks must share. */
export interface NamedKind {
  readonly id: string;
  readonly canonicalSlug: string;
  readonly text: boolean;
  readonly image: unknown;
  readonly video: unknown;
  readonly embedding?: unknown;
  readonly moderation?: unknown;
  readonly rerank?: unknown;
  readonly speech?: unknown;
  readonly transcription?: unknown;
}

/**
 * Refuses fallbacks that cannot serve a request for their model: models of another kind, and all fallbacks of videos.
 *
 * @param models The models that could be read, each with its index in the list.
 */
export function refuseUnfitFallbacks(
  models: readonly (readonly [index: number, model: NamedKind & { readonly fallbacks: readonly string[] }])[],
  problems: Problems,
): void {
  const byName = new Map<string, NamedKind>(
    models.flatMap(([, model]) => [[model.canonicalSlug, model], [model.id, model]]),
  );
  for (const [index, model] of models) {
    model.fallbacks.forEach((name, at) => {
      const fallback = byName.get(name);
      if (model.video) {
        problems.add(["models", index, "fallbacks"], "none, as videos have no fallbacks", model.fallbacks);
      } else if (fallback && !sharesKind(model, fallback)) {
        const kind = model.text ? "texts" : model.image ? "images" : "the same things";
        problems.add(["models", index, "fallbacks", at], `a model that makes ${kind}, as this one does`, name);
      }
    });
  }
}

function sharesKind(model: NamedKind, fallback: NamedKind): boolean {
  return (["text", "image", ...SECTION_NAMES] as const)
    .some((kind) => Boolean(model[kind] && fallback[kind]));
}

/** What {@linkcode refuseUnknownRedirects} reads of a model. */
interface Redirected {
  readonly redirect: { readonly to: string } | null;
  readonly serves: readonly { readonly provider: string; readonly model: string }[];
}

/**
 * Refuses redirects to a name that no provider of the model serves, whose price would be unknown.
 *
 * @param models The models that could be read, each with its index in the list.
 * @param listing The providers whose lists are read while the gateway runs, so that they can serve any name.
 */
export function refuseUnknownRedirects(
  models: readonly (readonly [index: number, model: Redirected])[],
  listing: ReadonlySet<string>,
  problems: Problems,
): void {
  const served = new Set(
    models.flatMap(([, { serves }]) => serves.map(({ provider, model }) => `${provider} ${model}`)),
  );
  for (const [index, { redirect, serves }] of models) {
    if (redirect === null) continue;
    const isServed = serves.some(({ provider, model }) =>
      model !== redirect.to && (listing.has(provider) || served.has(`${provider} ${redirect.to}`))
    );
    if (isServed) continue;
    const expected = "the vendor's name of another model that a provider of this one serves";
    problems.add(["models", index, "redirected_to", "model"], expected, redirect.to);
  }
}

/** The names that aliases and fallbacks can refer to. */
interface Names {
  /** Ids and canonical slugs. */
  readonly models: ReadonlySet<string>;
  /** Names without the provider part, with the number of models that have them. */
  readonly bare: ReadonlyMap<string, number>;
  /** Prefixes of ids in providers' lists: `openrouter/`. */
  readonly listed: readonly string[];
  /** Aliases without a star, with their targets. */
  readonly aliases: ReadonlyMap<string, string>;
}

/**
 * Refuses aliases and fallbacks whose target does not exist, aliases that form a loop, and aliases whose name is in
 * use. It reads the tree as written, so a problem elsewhere in an entry hides nothing.
 *
 * @param builtIn The models of a configuration without `models`.
 */
export function refuseBadNames(
  tree: Section,
  builtIn: readonly { readonly id: string; readonly canonicalSlug: string }[],
  problems: Problems,
): void {
  const names = namesOf(tree, builtIn);
  for (const [index, model] of listOf(tree.models).entries()) {
    const id = isSection(model) ? model.id : null;
    if (isSection(model)) refuseFallbacks(model, String(id), ["models", index], names, problems);
  }
  for (const [name, value] of isSection(tree.aliases) ? Object.entries(tree.aliases) : []) {
    const path = ["aliases", name];
    refuseTaken(name, path, names, problems);
    if (isSection(value)) {
      refuseTarget(name, value.model, [...path, "model"], names, problems);
      refuseFallbacks(value, name, path, names, problems);
      if (name.includes("*") && value.listed) {
        problems.add([...path, "listed"], "false, as a name with a star cannot be listed", value.listed);
      }
    } else refuseTarget(name, value, path, names, problems);
  }
}

function refuseTaken(name: string, path: Path, { models, listed }: Names, problems: Problems): void {
  const expected = "a name that is not the id or canonical_slug of a model, nor the first part of an id";
  const isFirstPart = [...models, ...listed].some((id) => providerPartOf(id) === name);
  if (isAliasName(name) && (models.has(name) || isFirstPart)) {
    problems.addPlain(path, expected, "a name that is in use");
  }
}

function refuseTarget(name: string, target: unknown, path: Path, names: Names, problems: Problems): void {
  if (typeof target !== "string") return; // Reported by its reader.
  if (target.includes("*") && !name.includes("*")) {
    return problems.add(path, "the name of one model, as the alias itself has no star", target);
  }
  if (isLoop(name, target, names)) {
    return problems.add(path, "the name of a model, not an alias that refers back to this one", target);
  }
  if (!isKnown(target, names)) problems.add(path, `the name of a model or alias (${hintFor(target, names)})`, target);
}

function refuseFallbacks(entry: Section, name: string, path: Path, names: Names, problems: Problems): void {
  for (const [index, fallback] of listOf(entry.fallbacks).entries()) {
    if (typeof fallback !== "string") continue; // Reported by its reader.
    const at = [...path, "fallbacks", index];
    if (fallback === name || fallback === entry.model) problems.add(at, "a different model than the first", fallback);
    else if (fallback.includes("*") || !isKnown(fallback, names)) {
      problems.add(at, `the name of a model or alias (${hintFor(fallback, names)})`, fallback);
    }
  }
}

function isLoop(name: string, target: string, { models, aliases }: Names): boolean {
  const seen = new Set([name]);
  for (let next: string | undefined = target; next !== undefined; next = aliases.get(next)) {
    if (seen.has(next)) return true;
    if (models.has(next)) return false;
    seen.add(next);
  }
  return false;
}

function isKnown(target: string, { models, bare, listed, aliases }: Names): boolean {
  const star = target.indexOf("*");
  if (star >= 0) {
    const [before, after] = [target.slice(0, star), target.slice(star + 1)];
    const fits = (id: string) =>
      id.length >= before.length + after.length && id.startsWith(before) && id.endsWith(after);
    return [...models, ...aliases.keys()].some(fits) ||
      listed.some((each) => before.startsWith(each) || each.startsWith(before));
  }
  return models.has(target) || aliases.has(target) || bare.get(target) === 1 ||
    listed.some((each) => target.startsWith(each) && target.length > each.length);
}

function hintFor(target: string, { models, aliases }: Names): string {
  const nearest = nearestWord(target, [...models, ...aliases.keys()]);
  return nearest === null ? "no model or alias has this name" : `did you mean "${nearest}"?`;
}

function namesOf(
  tree: Section,
  builtIn: readonly { readonly id: string; readonly canonicalSlug: string }[],
): Names {
  const written = listOf(tree.models).filter(isSection);
  const ids = tree.models == null
    ? builtIn.map(({ id, canonicalSlug }) => [id, canonicalSlug])
    : written.map(({ id, canonical_slug }) => [id, canonical_slug].filter((name) => typeof name === "string"));
  const models = ids.map((names) => names.filter((name) => !name.includes("*")));
  const bare = new Map<string, number>();
  for (const names of models) {
    for (const name of new Set(names.map(bareNameOf))) bare.set(name, (bare.get(name) ?? 0) + 1);
  }
  const aliases = Object.entries(isSection(tree.aliases) ? tree.aliases : {}).filter(([name]) => !name.includes("*"));
  return {
    models: new Set(models.flat()),
    bare,
    listed: ids.flat().filter((id) => id.endsWith("*")).map((id) => id.slice(0, -1)),
    aliases: new Map(aliases.map(([name, value]) => [name, String(isSection(value) ? value.model : value)])),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
