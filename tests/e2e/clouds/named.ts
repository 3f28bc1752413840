import { present } from "../../support/items.ts";

/** The item of a list with this name. */
export function itemNamed<T extends { readonly name: string }>(items: readonly T[], name: string): T {
  return present(items.find((each) => each.name === name), name);
}
