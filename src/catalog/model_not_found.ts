import { distance } from "fastest-levenshtein";
import { GatewayError } from "../lib/gateway_error.ts";
import type { Catalog } from "./catalog.ts";
import type { Model } from "./model.ts";

const MAX_SUGGESTIONS = 3;
/**
 * Longer names are compared with nothing, and longer ids by their beginning: a comparison of two names takes
 * microseconds.
 */
const MAX_COMPARED_CHARACTERS = 96;
const MAX_SHOWN_CHARACTERS = 128;

/**
 * The error for a name that means no model, with the nearest names that do.
 *
 * @param isFit Which models the endpoint serves: others are not suggested. Default: all.
 */
export function modelNotFound(
  catalog: Catalog,
  name: string,
  isFit: (model: Model) => boolean = () => true,
): GatewayError {
  const message = `Cannot find the model "${shownName(name)}"${nearestHint(catalog, name, isFit)}`;
  return new GatewayError("model_not_found", message, { field: "model" });
}

/** The end of a message that names the nearest models; empty when there is none. */
export function nearestHint(catalog: Catalog, name: string, isFit: (model: Model) => boolean): string {
  const nearest = nearestNames(catalog, name, isFit).map((each) => `"${each}"`);
  return nearest.length === 0 ? "" : `; the nearest: ${nearest.join(", ")}`;
}

/**
 * Up to three ids and listed aliases that differ from a name by the fewest edits, the nearest first. A name without a
 * slash is compared with what stands behind the last slash of ids. Case makes no difference. Aliases that are not
 * listed are never suggested, and a name of more than 96 characters has no nearest one.
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

/** A caller's word in a message: never longer than a line, never more than one. */
export function shownName(name: string): string {
  return name.slice(0, MAX_SHOWN_CHARACTERS).replace(/[^\x20-\x7e]/g, "?");
}

/** At least the difference of the lengths, so that most names need no comparison. */
function editsBetween(sought: string, spelling: string, worst: number): number {
  const compared = spelling.slice(0, MAX_COMPARED_CHARACTERS);
  if (Math.abs(sought.length - compared.length) >= worst) return Infinity;
  return distance(sought, compared.toLowerCase());
}
