import type { Catalog } from "../../../vendors/catalog/catalog.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import type { OtherAnswer } from "../../../conversation/models/answering_models.ts";
import { unversionedName } from "../../../conversation/models/families/fact_entry.ts";
import type { Usage } from "../../../conversation/neutral/usage.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextAttempt, TextParts } from "../plan/attempt.ts";
import { Late } from "../../../platform/lib/process/late.ts";

/** The built-in models, which are loaded for the first other name. Names are noted after that. */
const builtInAnswers = new Late(() => import("./built_in_answer.ts"));

/**
 * Returns the attempt with the model that answered it, by the name in the reply. Vendors send requests for a model on
 * to another one, and bill that one.
 *
 * @param name The vendor's name of the model in the reply; null for none.
 */
export function withAnswer(
  attempt: TextAttempt,
  name: string | null,
  usage: Usage | null,
): MaybePromise<TextAttempt> {
  const { provider: { answering }, candidate: { model: asked }, model } = attempt;
  if (name === null || answering === undefined) return attempt;
  if (name === asked || answering.isOwn(asked, name, model.id)) {
    answering.noteOwn(asked);
    return attempt;
  }
  // A fallback at the vendor serves single requests, and its usage names it.
  if (usage?.otherModels?.some((other) => other.model === name)) return attempt;
  if (!mustLoad(attempt.provider)) return otherAnswer(attempt, name);
  // A reply that is paid for is not lost because the code cannot be loaded now.
  return builtInAnswers.load().then(() => otherAnswer(attempt, name), () => attempt);
}

function otherAnswer(attempt: TextAttempt, name: string): TextAttempt {
  const known = answeringModel(name, attempt);
  attempt.provider.answering?.noteOther(attempt.candidate.model, name, known);
  attempt.settlement.facts.record.answeredBy = name;
  return known === null ? attempt : { ...attempt, answeredBy: known };
}

/** What the search for models that answer depends on. */
type AnswerParts = Pick<TextParts, "providers" | "catalog" | "clock">;

/** Notes another model with which a vendor answered in another thread. Resolves when it is noted. */
export async function noteOtherAnswer(
  { provider: name, asked, answering }: OtherAnswer,
  { providers, catalog, clock }: AnswerParts,
): Promise<void> {
  const provider = providers.get(name);
  if (provider === undefined) return;
  if (mustLoad(provider)) await builtInAnswers.load();
  const known = answeringModel(answering, { provider, catalog: catalog.at(clock.now()) });
  provider.answering?.noteOther(asked, answering, known);
}

function mustLoad({ builtInFamily }: Provider): boolean {
  return builtInAnswers.loaded === null && builtInFamily !== undefined;
}

/**
 * Returns all models, besides the requested one, whose price a request may have: that of the catalog's redirect, whose
 * date is not exact at every vendor, and those that answered before.
 */
export function possibleAnswers(
  model: Model,
  candidates: readonly Candidate[],
  { providers, catalog: dated, clock }: AnswerParts,
): readonly Model[] {
  if (model.redirect === null && candidates.every((each) => hasOnlyOwn(each, providers))) return NO_MODELS;
  const catalog = dated.at(clock.now());
  const found = new Set<Model>();
  const redirect = model.redirect?.model ?? null;
  const target = redirect === null ? null : catalog.find(redirect);
  if (target !== null) found.add(target);
  for (const candidate of candidates) {
    const provider = providers.get(candidate.provider);
    for (const name of provider?.answering?.namesFor(candidate.model) ?? []) {
      const known = answeringModel(name, { provider: provider!, catalog });
      if (known !== null) found.add(known);
    }
  }
  found.delete(model);
  return [...found];
}

const NO_MODELS: readonly Model[] = [];

function hasOnlyOwn({ provider, model }: Candidate, providers: TextParts["providers"]): boolean {
  return providers.get(provider)?.answering?.hasOthers(model) !== true;
}

/** What was found for one revision of a catalog: a vendor may answer every request with another name. */
interface FoundModels {
  readonly revision: number;
  /** By provider and name. */
  readonly models: Map<string, Model | null>;
}

const foundModels = new WeakMap<Catalog, FoundModels>();
const MAX_FOUND = 1_000;

/** The text model of a vendor's name: the catalog's at that provider, else the vendor's built-in one; else null. */
function answeringModel(name: string, at: { readonly provider: Provider; readonly catalog: Catalog }): Model | null {
  const { catalog, provider } = at;
  let known = foundModels.get(catalog);
  if (known?.revision !== catalog.revision) {
    known = { revision: catalog.revision, models: new Map() };
    foundModels.set(catalog, known);
  }
  const key = `${provider.name} ${name}`;
  let model = known.models.get(key);
  if (model === undefined) {
    model = findAnsweringModel(name, at);
    if (known.models.size >= MAX_FOUND) known.models.clear();
    // Without the built-in models another search can find more.
    if (!mustLoad(provider)) known.models.set(key, model);
  }
  return model;
}

function findAnsweringModel(
  name: string,
  { provider, catalog }: { readonly provider: Provider; readonly catalog: Catalog },
): Model | null {
  const model = catalog.servedAs(provider.name, name) ?? catalog.servedAs(provider.name, unversionedName(name)) ??
    builtInAnswers.loaded?.builtInAnswer(provider, name) ?? null;
  return model?.text === true ? model : null;
}
