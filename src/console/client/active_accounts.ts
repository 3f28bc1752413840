import { read } from "./api.ts";
import type { Account, ListAnswer } from "./shapes.ts";

const PAGE_SIZE = 100;
/** The most accounts that are read. */
const MAX_ACCOUNTS = 2_000;

/** The accounts that can pay for requests. */
export async function readActiveAccounts(signal: AbortSignal): Promise<readonly Account[]> {
  const accounts: Account[] = [];
  for (let after: string | null = ""; after !== null && accounts.length < MAX_ACCOUNTS;) {
    const page: ListAnswer<Account> = await read<ListAnswer<Account>>(
      "/admin/v1/accounts",
      { limit: PAGE_SIZE, after },
      signal,
    );
    accounts.push(...page.data.filter(({ status }) => status === "active"));
    after = page.next;
  }
  return accounts;
}
