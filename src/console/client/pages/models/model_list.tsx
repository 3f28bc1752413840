import { Field } from "../../components/action_form.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { compact } from "../../format.ts";
import { hrefOf, query, setTypedQuery } from "../../navigation.ts";
import { canWrite, session } from "../../session_state.ts";
import type { ListedModel } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { perMillionTokens } from "../../price_text.ts";
import { formHref } from "../forms/form_href.ts";
import { matchesText, otherPrices } from "./model_facts.ts";

/** All models, which can be searched. */
export function ModelList({ models }: { readonly models: readonly ListedModel[] }) {
  const text = query.value.get("q") ?? "";
  const found = models.filter((model) => matchesText(model, text));
  return (
    <>
      <PageHead title={TEXTS.models.title}>
        {canWrite() && (
          <>
            <a class="button" href={formHref("models", "alias")}>{TEXTS.forms.alias.add}</a>
            <a class="button primary" href={formHref("models", "model")}>{TEXTS.forms.model.add}</a>
          </>
        )}
      </PageHead>
      <search class="filters card">
        <Field name={TEXTS.models.search}>
          <input
            type="text"
            value={text}
            placeholder={TEXTS.models.searchHint}
            onInput={(event) => setTypedQuery({ q: event.currentTarget.value })}
          />
        </Field>
      </search>
      {found.length === 0 ? <NoModels hasModels={models.length > 0} /> : <Table models={found} />}
    </>
  );
}

function NoModels({ hasModels }: { readonly hasModels: boolean }) {
  const { emptyTitle, empty, noneFoundTitle, noneFound } = TEXTS.models;
  return hasModels
    ? <EmptyState title={noneFoundTitle}>{noneFound}</EmptyState>
    : <EmptyState title={emptyTitle}>{empty}</EmptyState>;
}

/** Texts below each other, which narrow columns hold. */
function Lines({ of: texts }: { readonly of: readonly string[] }) {
  return texts.map((text) => <div key={text}>{text}</div>);
}

function Table({ models }: { readonly models: readonly ListedModel[] }) {
  const isOperator = session.value?.kind === "operator";
  const price = (key: string) => ({ pricing }: ListedModel) => perMillionTokens(pricing[key]);
  return (
    <DataTable
      label={TEXTS.models.table}
      rows={models}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => hrefOf(`models/${encodeURIComponent(id)}`)}
      columns={[
        { title: TEXTS.models.model, cell: ({ id }) => id },
        {
          title: TEXTS.models.outputs,
          leaveOut: 3,
          cell: ({ architecture }) => architecture.output_modalities.join(", "),
        },
        {
          title: TEXTS.models.context,
          leaveOut: 1,
          isNumeric: true,
          cell: ({ context_length }) => context_length === 0 ? "" : compact(context_length),
        },
        { title: TEXTS.models.perMillion(TEXTS.models.input), isNumeric: true, cell: price("prompt") },
        { title: TEXTS.models.perMillion(TEXTS.models.output), isNumeric: true, cell: price("completion") },
        { title: TEXTS.models.otherPrices, leaveOut: 2, cell: ({ pricing }) => <Lines of={otherPrices(pricing)} /> },
        ...isOperator
          ? [{
            title: TEXTS.models.providers,
            cell: ({ providers = [] }: ListedModel) => <Lines of={providers.map(({ provider }) => provider)} />,
          }]
          : [],
      ]}
    />
  );
}
