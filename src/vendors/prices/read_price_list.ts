import { type PriceBook, sourcedKey, type SourcedModel } from "../catalog/sourced_model.ts";
import { isLitellmMap, readLitellmMap } from "./formats/litellm.ts";
import { isModelsDev, readModelsDev } from "./formats/models_dev.ts";
import { isOpenrouterList, readOpenrouterList } from "./formats/openrouter.ts";
import { ownListIn, readOwnList } from "./formats/own.ts";
import type { ListedPrice } from "./listed_price.ts";
import { repeatedNames } from "./repeated_names.ts";
import { PriceListError, PriceProblems } from "./price_problems.ts";

/** More models are no list of prices. */
const MAX_MODELS = 5_000;

/**
 * Reads a price list: our own, OpenRouter's, LiteLLM's or that of models.dev.
 *
 * @param families Only the models of these vendors are read, by the first part of their built-in ids.
 * @throws {PriceListError} With all problems of the models that are read.
 */
export function readPriceList(text: string, families: ReadonlySet<string>): PriceBook {
  const source = parse(text);
  const problems = new PriceProblems();
  const listed = entriesOf(source, families, problems);
  for (const name of repeatedNames(text)) problems.addLine(`${name}: expected each model once, found it twice`);
  const book = bookOf(listed, problems);
  problems.throwIfAny();
  const count = Object.keys(book).length;
  if (count === 0) throw new PriceListError([`expected prices of ${[...families].join(", ")}, found none`]);
  if (count > MAX_MODELS) throw new PriceListError([`expected at most ${MAX_MODELS} models, found ${count}`]);
  return book;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Its message has the position, and some characters of a public list.
    throw new PriceListError([`expected JSON: ${(error as Error).message}`]);
  }
}

function entriesOf(source: unknown, families: ReadonlySet<string>, problems: PriceProblems): readonly ListedPrice[] {
  const own = ownListIn(source);
  if (own !== null) return readOwnList(own, families, problems);
  if (isOpenrouterList(source)) return readOpenrouterList(source, families, problems);
  if (isModelsDev(source)) return readModelsDev(source, families, problems);
  if (isLitellmMap(source)) return readLitellmMap(source, families, problems);
  throw new PriceListError([
    "expected our own catalog, OpenRouter's list of models, LiteLLM's price map or the list of models.dev",
  ]);
}

function bookOf(listed: readonly ListedPrice[], problems: PriceProblems): PriceBook {
  const book = new Map<string, SourcedModel>();
  for (const { family, name, place, sourced } of listed) {
    const key = sourcedKey(family, name);
    if (book.has(key)) problems.addLine(`${place}: expected each model once, found it twice`);
    book.set(key, sourced);
  }
  return Object.fromEntries(book);
}
