import type { Page, PageProps } from "../../page.ts";
import { TEXTS } from "../../texts.ts";
import { shownForm } from "../forms/form_href.ts";
import { FormView } from "../forms/form_view.tsx";
import { AccountDetails } from "./account_details.tsx";
import { AccountLimits } from "./account_limits.tsx";
import { AccountList } from "./account_list.tsx";
import { KeyDetails } from "./key_details.tsx";

/** The accounts, and a page for each with its keys and its ledger. */
export const accountsPage: Page = {
  path: "accounts",
  title: TEXTS.accounts.title,
  icon: "accounts",
  audience: "operators",
  View: Accounts,
};

function Accounts({ rest }: PageProps) {
  const [account = "", part, key] = rest.split("/");
  if (shownForm() === "key") return <FormView form="key" subject={account} />;
  if (account === "") return <AccountList />;
  if (part === "limits") return <AccountLimits id={account} />;
  return part === "keys" && key !== undefined
    ? <KeyDetails key={key} account={account} id={key} />
    : <AccountDetails id={account} />;
}
