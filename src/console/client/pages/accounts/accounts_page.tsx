import type { Page, PageProps } from "../../page.ts";
import { TEXTS } from "../../texts.ts";
import { AccountDetails } from "./account_details.tsx";
import { AccountList } from "./account_list.tsx";

/** The accounts, and a page for each with its keys and its ledger. */
export const accountsPage: Page = {
  path: "accounts",
  title: TEXTS.accounts.title,
  icon: "accounts",
  audience: "operators",
  View: ({ rest }: PageProps) => rest === "" ? <AccountList /> : <AccountDetails id={rest} />,
};
