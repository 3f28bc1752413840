import { builtInFields } from "../catalog/built_in.ts";
import { bareNameOf, providerPartOf } from "../catalog/catalog.ts";
import { readModel } from "../catalog/model.ts";
import { fieldsOfSourced, type PriceBook, type SourcedModel, withSourced } from "../catalog/sourced_model.ts";
import { comparePrices, type PriceUpdate } from "./price_changes.ts";
import { PriceListError } from "./price_problems.ts";
import { readPriceList } from "./read_price_list.ts";

/** A price list to compare with the prices in use. */
export interface PriceJob {
  /** The list as it was received: UTF-8. */
  readonly bytes: ArrayBuffer;
  /** The first parts of the built-in ids of the vendors in use. */
  readonly families: readonly string[];
  /** The prices of the source that are in use. */
  readonly current: PriceBook;
  /** See `CompareOptions`. */
  readonly maxChange: number;
}

/** What a list changes, or why it cannot be used. */
export type PriceJobResult =
  | ({ readonly type: "read"; readonly unusable: readonly string[] } & PriceUpdate)
  | { readonly type: "refused"; readonly problems: readonly string[] };

/** Reads a price list and compares it with the prices in use. */
export function runPriceJob({ bytes, families, current, maxChange }: PriceJob): PriceJobResult {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const { book, unusable } = usableIn(readPriceList(text, new Set(families)));
    return { type: "read", unusable, ...comparePrices(current, book, { maxChange, builtIn: builtInOf }) };
  } catch (error) {
    if (error instanceof PriceListError) return { type: "refused", problems: error.problems };
    if (error instanceof TypeError) return { type: "refused", problems: ["expected text in UTF-8"] };
    throw error;
  }
}

function builtInOf(key: string): ReturnType<typeof builtInFields> {
  return builtInFields(providerPartOf(key), bareNameOf(key));
}

/** Leaves out models with prices that no endpoint of them charges, which the schema of a model refuses. */
function usableIn(book: PriceBook): { readonly book: PriceBook; readonly unusable: readonly string[] } {
  const usable: Record<string, SourcedModel> = {};
  const unusable: string[] = [];
  for (const [key, sourced] of Object.entries(book)) {
    const known = builtInOf(key);
    try {
      const fields = known === null ? fieldsOfSourced(sourced) : withSourced(known, sourced);
      readModel({ ...fields, id: "any/model", serves: [{ provider: "any" }] });
      usable[key] = sourced;
    } catch {
      unusable.push(key);
    }
  }
  if (Object.keys(usable).length === 0) throw new PriceListError(["expected models with prices that are charged here"]);
  return { book: usable, unusable };
}
