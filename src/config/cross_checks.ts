import { providerPartOf } from "../catalog/catalog.ts";
import { isModelPattern } from "../catalog/model_pattern.ts";
import { endpointPathIn } from "../upstreams/endpoint_path.ts";
import { kindOf, PROVIDER_KINDS, type ProviderKind } from "../upstreams/kinds.ts";
import type { ProviderConfig } from "../upstreams/provider_config.ts";
import { isSection, type Section } from "./document.ts";
import type { Path, Problems } from "./problems.ts";
import { nearestWord } from "./unknown_key.ts";

/**
 * What no section can see alone: ids, keys and names that two places claim, and providers that do not exist. Looks at
 * the tree as it was written, so that a mistake elsewhere in an account or model hides nothing.
 */
export function refuseClashes(tree: Section, providers: ReadonlySet<string>, problems: Problems): void {
  const accountIds = new Claims("an id of its own", problems);
  const keys = new Claims("a key of its own", problems);
  for (const [account, path] of sectionsOf(tree.accounts, ["accounts"])) {
    accountIds.claim(account.id, [...path, "id"]);
    listOf(account.keys).forEach((key, index) => keys.claim(key, [...path, "keys", index]));
  }
  const names = new Claims("a name that no other model has as its id or canonical_slug", problems);
  for (const [model, path] of sectionsOf(tree.models, ["models"])) {
    names.claim(model.id, [...path, "id"]);
    if (model.canonical_slug !== model.id) names.claim(model.canonical_slug, [...path, "canonical_slug"]);
    for (const [serving, at] of sectionsOf(model.serves, [...path, "serves"])) {
      refuseUnknownProvider(serving.provider, [...at, "provider"], providers, problems);
    }
  }
}

/** Models that a provider lists need a provider of a kind that has a list. */
export function refuseUnlistable(
  tree: Section,
  providers: Readonly<Record<string, { readonly kind: ProviderKind } | null>>,
  problems: Problems,
): void {
  for (const [model, path] of sectionsOf(tree.models, ["models"])) {
    if (!isModelPattern(model)) continue;
    const [serving] = sectionsOf(model.serves, [...path, "serves"]);
    const [name, at] = serving
      ? [serving[0].provider, [...serving[1], "provider"]]
      : [providerPartOf(String(model.id)), [...path, "id"]];
    if (!serving) refuseUnknownProvider(name, at, new Set(Object.keys(providers)), problems);
    const kind = providers[String(name)]?.kind;
    if (!kind || kindOf(kind).models) continue;
    const listing = PROVIDER_KINDS.filter((each) => kindOf(each).models).join(", ");
    problems.addPlain(at, `a provider with a list of models (kind ${listing})`, `one of kind ${kind}`);
  }
}

/** Names that only one place may have. */
class Claims {
  readonly #claimed = new Set<string>();

  constructor(readonly expected: string, readonly problems: Problems) {}

  claim(name: unknown, path: Path): void {
    if (typeof name !== "string") return; // left out, or told where it is read
    if (this.#claimed.has(name)) this.problems.add(path, this.expected, name);
    this.#claimed.add(name);
  }
}

function refuseUnknownProvider(name: unknown, path: Path, providers: ReadonlySet<string>, problems: Problems): void {
  if (typeof name !== "string" || providers.has(name)) return;
  const known = [...providers];
  const nearest = nearestWord(name, known);
  const hint = known.length === 0 ? "none is configured" : nearest ? `did you mean "${nearest}"?` : known.join(", ");
  problems.add(path, `the name of a provider (${hint})`, name);
}

function sectionsOf(value: unknown, path: Path): [Section, Path][] {
  return listOf(value).flatMap((item, index) => isSection(item) ? [[item, [...path, index]]] : []);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Refuses base addresses that were copied with the path of an endpoint: every request would go to an address twice. */
export function refuseEndpointPaths(
  providers: Readonly<Record<string, ProviderConfig | null>>,
  problems: Problems,
): void {
  for (const [name, config] of Object.entries(providers)) {
    const found = config && endpointPathIn(config.kind, config.baseUrl);
    if (!found) continue;
    const expected = `the address without "${found.surplus}" at its end, which the gateway adds`;
    problems.addCorrection(["providers", name, "base_url"], expected, found.baseUrl, config.baseUrl);
  }
}
