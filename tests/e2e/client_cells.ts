import { itemAt } from "../support/items.ts";
import { CLIENTS } from "./clients/all.ts";
import { FEATURES } from "./features.ts";
import { VENDORS } from "./vendors.ts";

/** Each client against one vendor after another, with every third feature. */
export const CLIENT_CELLS = CLIENTS.flatMap((client, row) =>
  FEATURES.flatMap((feature, column) => {
    const isChosen = (row + column) % 3 === 0;
    return isChosen
      ? [{ client, feature, vendor: itemAt(VENDORS, (row + Math.floor(column / 3)) % VENDORS.length) }]
      : [];
  })
);
