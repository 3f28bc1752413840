import { AccountRoom } from "../../../services/stored_files/account_room.ts";
import { lineBytesOf } from "../../../services/batches/records/records.ts";
import type { Services } from "./services.ts";

/**
 * The room of each account for its files and for the lines of its batches.
 *
 * @param maxBytes The most that one account stores.
 */
export function createAccountRoom(
  { store, clock }: Pick<Services, "store" | "clock">,
  maxBytes: () => number,
): AccountRoom {
  return new AccountRoom({ store, clock, maxBytes, otherBytes: (account) => lineBytesOf(store, account) });
}
