/**
 * The id of the `n`th ledger entry of an account, from 1. Ids sort as text in the order of commits. All engines use it,
 * so that ids survive a copy to another engine.
 */
export function ledgerEntryIdOf(n: number): string {
  return n.toString().padStart(15, "0");
}
