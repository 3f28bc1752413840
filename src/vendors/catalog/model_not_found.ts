import { distance } from "fastest-levenshtein";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Catalog } from "./catalog.ts";
import type { Model } from "./model.ts";

const MAX_SUGGESTIONS = 3;
/** Longer names are not compared, and longer ids by their prefix only: comparing two names takes microseconds. */
const MAX_COMPARED_CHARACTERS = 96;
const MAX_SHOWN_CHARACTERS = 128;

/**
 * Creates the error for an unknown model, with the nearest existing names.
 *
 * @param isFit Whether the endpoint serves a model; others are not suggested. Default: all.
 */
export function modelNotFound(
  catalog: Catalog,
  name: string,
  isFit: (model: Model) => boolean = () => true,
): GatewayError {
  const message = `Cannot find the model "${displayName(name)}"${nearestHint(catalog, name, isFit)}`;
  return new GatewayError("model_not_found", message, { field: "model" });
}

/** The end of a message that names the nearest models; empty if there are none. */
export function nearestHint(catalog: Catalog, name: string, isFit: (model: Model) => boolean): string {
  const nearest = nearestNames(catalog, name, isFit).map((each) => `"${each}"`);
  return nearest.length === 0 ? "" : `; the nearest: ${nearest.join(", ")}`;
}

/**
 * Up to three ids and listed aliases with the smallest edit distance to a name, nearest first. A name without a slash
 * is compared with the last part of ids. Case is ignored. Unlisted aliases are never suggested. A name of more than 96
 * characters has no suggestions.
 */
function nearestNames(catalog: Catalog, name: string, isFit: (model: Model) => boolean): string[] {
  if (name === "" || name.length > MAX_COMPARED_CHARACTERS) return [];
  const sought = name.toLowerCase();
  const comparedOf = sought.includes("/") ? (id: string) => id : (id: string) => id.slice(id.lastIndexOf("/") + 1);
  const nearest: { readonly name: string; readonly edits: number }[] = [];
  const offer = (candidate: string) => {
    const worst = nearest[MAX_SUGGESTIONS - 1]?.edits ?? Infinity;
    const edits = editsBetween(sought, comparedOf(candidate), worst);
    if (edits >= worst) return;
    const at = nearest.findIndex((each) => edits < each.edits);
    nearest.splice(at === -1 ? nearest.length : at, 0, { name: candidate, edits });
    nearest.length = Math.min(nearest.length, MAX_SUGGESTIONS);
  };
  for (const model of catalog.models) if (isFit(model)) offer(model.id);
  for (const alias of catalog.listedAliases) if (isFit(alias.model)) offer(alias.name);
  return nearest.map((each) => each.name);
}

/** A caller's value for an error message: one line, truncated. */
export function displayName(name: string): string {
  return name.slice(0, MAX_SHOWN_CHARACTERS).replace(/[^\x20-\x7e]/g, "?");
}

/** The edit distance is at least the difference of the lengths, so most names need no comparison. */
function editsBetween(sought: string, spelling: string, worst: number): number {
  const compared = spelling.slice(0, MAX_COMPARED_CHARACTERS);
  if (Math.abs(sought.length - compared.length) >= worst) return Infinity;
  return distance(sought, compared.toLowerCase());
}
