import { Card } from "../../components/card.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { Instant } from "../../components/instant.tsx";
import { dollars } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import type { ExpiringKey, SpentBudget, TrafficAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { EndingCard } from "./ending_card.tsx";

/** The accounts and keys that are near the end of their balance, budget or life; nothing without any. */
export function NearEndCards({ now: { ending = [], budgets = [], expiring = [] } }: Pick<TrafficAnswer, "now">) {
  return (
    <>
      {ending.length > 0 && (
        <Card title={TEXTS.overview.ending}>
          <EndingCard ending={ending} />
        </Card>
      )}
      {budgets.length > 0 && (
        <Card title={TEXTS.overview.budgets}>
          <BudgetTable budgets={budgets} />
        </Card>
      )}
      {expiring.length > 0 && (
        <Card title={TEXTS.overview.expiring}>
          <ExpiringTable expiring={expiring} />
        </Card>
      )}
    </>
  );
}

/** The account, or the key, as a link to where its limits are changed. */
function Holder({ of: { account, key, name } }: { readonly of: Pick<SpentBudget, "account" | "key" | "name"> }) {
  const page = `accounts/${encodeURIComponent(account)}`;
  return key === null
    ? <a href={hrefOf(page)}>{account}</a>
    : <a href={hrefOf(`${page}/keys/${encodeURIComponent(key)}`)}>{account} · {name ?? key}</a>;
}

function BudgetTable({ budgets }: { readonly budgets: readonly SpentBudget[] }) {
  const { budgetHolder, budgetSpent, budgetOf, resets, budgetShare } = TEXTS.overview;
  return (
    <DataTable
      label={TEXTS.overview.budgets}
      rows={budgets}
      keyOf={({ account, key }) => `${account} ${key}`}
      columns={[
        { title: budgetHolder, cell: (budget) => <Holder of={budget} /> },
        {
          title: budgetSpent,
          isNumeric: true,
          cell: ({ spent, amount }) => budgetShare(Math.floor(100 * Number(spent) / Number(amount))),
        },
        {
          title: budgetOf,
          cell: ({ amount, per }) => TEXTS.accounts.budgetText(dollars(amount), per),
        },
        { title: resets, cell: ({ resets_at }) => resets_at === null ? "" : <Instant at={resets_at} /> },
      ]}
    />
  );
}

function ExpiringTable({ expiring }: { readonly expiring: readonly ExpiringKey[] }) {
  return (
    <DataTable
      label={TEXTS.overview.expiring}
      rows={expiring}
      keyOf={({ account, key }) => `${account} ${key}`}
      columns={[
        { title: TEXTS.overview.budgetHolder, cell: (one) => <Holder of={one} /> },
        { title: TEXTS.accounts.expires, cell: ({ expires_at }) => <Instant at={expires_at} /> },
      ]}
    />
  );
}
