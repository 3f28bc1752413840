import { providerPartOf } from "../vendors/catalog/catalog.ts";
import { SECTION_NAMES } from "../vendors/catalog/sections/capability_sections.ts";
import type { Model } from "../vendors/catalog/model.ts";
import { isModelPattern } from "../vendors/catalog/model_pattern.ts";
import { endpointPathIn } from "../vendors/upstreams/settings/endpoint_path.ts";
import { classifyAddress, readCidr } from "../platform/net/address.ts";
import { hostOf } from "../platform/net/target.ts";
import type { PricesConfig } from "../vendors/prices/prices_section.ts";
import { listsModels, type Made, madeBy, PROVIDER_KINDS, type ProviderKind } from "../vendors/upstreams/kinds.ts";
import type { ProviderConfig } from "../vendors/upstreams/settings/provider_config.ts";
import type { EgressConfig } from "../platform/net/egress_section.ts";
import { isSection, type Section } from "./tree/section.ts";
import type { ServerConfig } from "./sections/server_section.ts";
import { configuredAdminKeys } from "./sections/admin_keys.ts";
import type { Problems } from "./tree/problems.ts";
import type { Path } from "./tree/setting_path.ts";
import type { RequestLogConfig } from "../observers/request_log/request_log_section.ts";
import { noBodiesReasonOf } from "./sections/captured_bodies.ts";
import { nearestWord } from "../platform/lib/text/nearest_word.ts";

/**
 * Refuses ids, keys and names that are used twice, and providers that do not exist. It reads the tree as written, so a
 * problem elsewhere in an account or model hides nothing.
 */
export function refuseClashes(tree: Section, providers: ReadonlySet<string>, problems: Problems): void {
  const accountIds = new Claims("a unique id", problems);
  const keys = new Claims("a unique key", problems);
  for (const [account, path] of sectionsOf(tree.accounts, ["accounts"])) {
    accountIds.claim(account.id, [...path, "id"]);
    listOf(account.keys).forEach((key, index) => {
      const at = [...path, "keys", index];
      if (isSection(key)) keys.claim(key.key, [...at, "key"]);
      else keys.claim(key, at);
    });
  }
  const names = new Claims("a name that is not the id or canonical_slug of another model", problems);
  for (const [model, path] of sectionsOf(tree.models, ["models"])) {
    names.claim(model.id, [...path, "id"]);
    if (model.canonical_slug !== model.id) names.claim(model.canonical_slug, [...path, "canonical_slug"]);
    for (const [serving, at] of sectionsOf(model.serves, [...path, "serves"])) {
      refuseUnknownProvider(serving.provider, [...at, "provider"], providers, problems);
    }
  }
}

const LISTING_EXPECTATION = `a provider with a list of models (kind ${PROVIDER_KINDS.filter(listsModels).join(", ")})`;

/** Refuses entries of `models` with a star, and `discover`, for providers of a kind without a model list. */
export function refuseUnlistable(
  tree: Section,
  providers: Readonly<Record<string, { readonly kind: ProviderKind; readonly discover?: readonly string[] } | null>>,
  problems: Problems,
): void {
  for (const [name, provider] of Object.entries(providers)) {
    if (provider?.discover === undefined || listsModels(provider.kind)) continue;
    problems.addPlain(["providers", name, "discover"], LISTING_EXPECTATION, `one of kind ${provider.kind}`);
  }
  for (const [model, path] of sectionsOf(tree.models, ["models"])) {
    if (!isModelPattern(model)) continue;
    const [serving] = sectionsOf(model.serves, [...path, "serves"]);
    const [name, at] = serving
      ? [serving[0].provider, [...serving[1], "provider"]]
      : [providerPartOf(String(model.id)), [...path, "id"]];
    if (!serving) refuseUnknownProvider(name, at, new Set(Object.keys(providers)), problems);
    const kind = providers[String(name)]?.kind;
    if (!kind || listsModels(kind)) continue;
    problems.addPlain(at, LISTING_EXPECTATION, `one of kind ${kind}`);
  }
}

/** What a model makes, in words. */
const MADE: Readonly<Record<Made, string>> = {
  image: "makes images",
  edits: "edits images",
  video: "makes videos",
  embedding: "makes embeddings",
  moderation: "moderates",
  rerank: "ranks documents",
  speech: "speaks",
  transcription: "writes audio down",
};

/** Refuses models that make something which the adapter of none of their providers makes. */
export function refuseUnmade(
  models: readonly (readonly [index: number, model: Model])[],
  providers: Readonly<Record<string, Pick<ProviderConfig, "kind" | "apiVersion"> | null>>,
  problems: Problems,
): void {
  for (const [index, model] of models) {
    const serving = model.serves.map(({ provider }) => providers[provider]);
    const known = serving.filter((provider) => provider !== null && provider !== undefined);
    if (known.length < serving.length) continue; // reported by their own checks
    for (const made of claimsOf(model)) {
      if (known.some(({ kind, apiVersion }) => madeBy(kind, apiVersion !== undefined).includes(made))) continue;
      const path = made === "edits" ? ["image", "edits"] : [made];
      const kinds = [...new Set(known.map(({ kind }) => kind))].join(" and ");
      problems.addPlain(["models", index, ...path], `a provider that ${MADE[made]}`, `only kind ${kinds}`);
    }
  }
}

function claimsOf({ image, video, ...sections }: Model): readonly Made[] {
  return [
    ...image ? ["image" as const] : [],
    ...image?.edits ? ["edits" as const] : [],
    ...video ? ["video" as const] : [],
    ...SECTION_NAMES.filter((name) => sections[name] !== undefined),
  ];
}

/** Refuses an address of the admin API without an admin key, as there is no admin API then. */
export function refuseUnusedAdminAddress(server: ServerConfig | null, problems: Problems): void {
  if (server === null || server.adminListen === null || configuredAdminKeys(server).length > 0) return;
  const expected = "an admin key for the admin API: set server.admin_key, server.admin_keys or SWITCHYARD_ADMIN_KEY";
  problems.addPlain(["server", "admin_listen"], expected, "none");
}

/** Refuses `capture` of accounts and keys where no bodies are kept, as the setting would have no effect. */
export function refuseUnkeptCapture(tree: Section, requestLog: RequestLogConfig | null, problems: Problems): void {
  const reason = requestLog === null ? null : noBodiesReasonOf(requestLog);
  if (reason === null) return;
  for (const [account, path] of sectionsOf(tree.accounts, ["accounts"])) {
    for (const [holder, at] of [[account, path] as const, ...sectionsOf(account.keys, [...path, "keys"])]) {
      const { capture } = holder;
      if (capture !== "all" && capture !== "errors") continue;
      problems.add([...at, "capture"], `none, as no bodies are kept: ${reason}`, capture);
    }
  }
}

/** Names that must be unique. */
class Claims {
  readonly #claimed = new Set<string>();

  constructor(readonly expected: string, readonly problems: Problems) {}

  claim(name: unknown, path: Path): void {
    if (typeof name !== "string") return; // Missing, or reported by its reader.
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

/** Refuses a price source without encryption, unless it is at an address that `egress.allow` has. */
export function refuseOpenPriceSource(
  prices: PricesConfig | null,
  egress: EgressConfig | null,
  problems: Problems,
): void {
  if (prices === null || egress === null || !/^http:/i.test(prices.source)) return;
  const verdict = classifyAddress(hostOf(new URL(prices.source)), egress.allow.map(readCidr));
  if (verdict === "allowed") return;
  const expected = "an https address; http only with an IP address that egress.allow has";
  problems.add(["prices", "source"], expected, prices.source);
}

/** Refuses base addresses that end in the path of an endpoint. The gateway would append that path again. */
export function refuseEndpointPaths(
  providers: Readonly<Record<string, ProviderConfig | null>>,
  problems: Problems,
): void {
  for (const [name, config] of Object.entries(providers)) {
    const found = config && endpointPathIn(config.kind, config.baseUrl);
    if (!found) continue;
    const expected = `the address without "${found.endpoint}" at its end, which the gateway adds`;
    problems.addCorrection(["providers", name, "base_url"], expected, found.baseUrl, config.baseUrl);
  }
}
