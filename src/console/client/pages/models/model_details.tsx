import { Card } from "../../components/card.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { number, percent } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { priceText } from "../../price_text.ts";
import { canWrite } from "../../session_state.ts";
import type { ListedModel } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { settingHref } from "../configuration/setting_href.ts";
import { formHref } from "../forms/form_href.ts";
import { factRowsOf, sharesOf } from "./model_facts.ts";
import { PriceCalculator } from "./price_calculator.tsx";

/** One model: what it does, what it costs, and who serves it. */
export function ModelDetails({ model }: {
  /** Null if the catalog has no such model. */
  readonly model: ListedModel | null;
}) {
  return (
    <>
      <p class="back">
        <a href={hrefOf("models")}>← {TEXTS.models.back}</a>
      </p>
      {model === null
        ? <EmptyState title={TEXTS.models.missingTitle}>{TEXTS.models.missing}</EmptyState>
        : <Details model={model} />}
    </>
  );
}

function Details({ model }: { readonly model: ListedModel }) {
  const { id, name, description, context_length, architecture, pricing, providers, aliases = [], fallbacks = [] } =
    model;
  const { pricing_overrides: coming = [], redirected_to: redirect, expiration_date: end } = model;
  return (
    <>
      <PageHead title={id}>
        {canWrite() && (
          <>
            <a class="button" href={formHref("models", "alias", { model: id })}>{TEXTS.forms.alias.add}</a>
            <a class="button" href={formHref(`models/${encodeURIComponent(id)}`, "price")}>{TEXTS.forms.price.edit}</a>
            <a class="button" href={settingHref("models", id)}>{TEXTS.forms.asJson}</a>
          </>
        )}
      </PageHead>
      <div class="grid">
        <Card title={name}>
          {description !== "" && <p>{description}</p>}
          <dl class="facts">
            <dt>{TEXTS.models.modality}</dt>
            <dd>{architecture.modality}</dd>
            {context_length > 0 && (
              <>
                <dt>{TEXTS.models.context}</dt>
                <dd>{TEXTS.models.tokens(number(context_length))}</dd>
              </>
            )}
            {aliases.length > 0 && (
              <>
                <dt>{TEXTS.models.names}</dt>
                <dd>
                  <Aliases names={aliases} />
                </dd>
              </>
            )}
            {fallbacks.length > 0 && (
              <>
                <dt>{TEXTS.models.fallbacks}</dt>
                <dd>{fallbacks.join(", ")}</dd>
              </>
            )}
            {redirect && (
              <>
                <dt>{TEXTS.models.answeredBy}</dt>
                <dd>{TEXTS.models.answeredFrom(redirect.model, redirect.from)}</dd>
              </>
            )}
            {end && (
              <>
                <dt>{TEXTS.models.ends}</dt>
                <dd>{end}</dd>
              </>
            )}
          </dl>
        </Card>
        <Card title={TEXTS.models.prices}>
          <Prices pricing={pricing} />
        </Card>
        {coming.length > 0 && (
          <Card title={TEXTS.models.comingPrices}>
            <ComingPrices coming={coming} />
          </Card>
        )}
        {providers !== undefined && (
          <Card title={TEXTS.models.calculator}>
            <PriceCalculator model={model} />
          </Card>
        )}
        {providers !== undefined && (
          <Card title={TEXTS.models.providers} isWide>
            <Providers providers={providers} />
          </Card>
        )}
        {providers !== undefined && factRowsOf(providers).length > 0 && (
          <Card title={TEXTS.models.facts} isWide>
            <Facts providers={providers} />
          </Card>
        )}
      </div>
    </>
  );
}

/** Other names of a model, which operators change in the configuration. */
function Aliases({ names }: { readonly names: readonly string[] }) {
  return names.map((name, place) => (
    <span key={name}>
      {place > 0 && ", "}
      <a href={settingHref("aliases", name)}>{name}</a>
    </span>
  ));
}

function Prices({ pricing }: Pick<ListedModel, "pricing">) {
  const rows = Object.entries(pricing);
  if (rows.length === 0) return <p class="hint">{TEXTS.models.free}</p>;
  return (
    <DataTable
      label={TEXTS.models.prices}
      rows={rows}
      keyOf={([price]) => price}
      columns={[
        { title: TEXTS.models.price, cell: ([price]) => <code>{price}</code> },
        { title: TEXTS.models.rate, isNumeric: true, cell: ([price, rate]) => priceText(price, rate) },
      ]}
    />
  );
}

/** The members of an entry that are no prices. */
const CONDITIONS: ReadonlySet<string> = new Set([
  ...["min_prompt_tokens", "utc_start", "utc_end", "days", "except", "from", "until"],
  ...["service_tier", "region", "batch"],
]);

function ComingPrices({ coming }: { readonly coming: NonNullable<ListedModel["pricing_overrides"]> }) {
  const rows = coming.flatMap((entry) => {
    const conditions = Object.entries(entry).filter(([name]) => CONDITIONS.has(name));
    const when = conditions.map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(", ") : value}`)
      .join("; ");
    return Object.entries(entry).filter(([name]) => !CONDITIONS.has(name))
      .map(([price, rate]) => ({ when, price, rate: String(rate) }));
  });
  return (
    <DataTable
      label={TEXTS.models.comingPrices}
      rows={rows}
      keyOf={({ when, price }) => `${when} ${price}`}
      columns={[
        { title: TEXTS.models.condition, cell: ({ when }) => when },
        { title: TEXTS.models.price, cell: ({ price }) => <code>{price}</code> },
        { title: TEXTS.models.rate, isNumeric: true, cell: ({ price, rate }) => priceText(price, rate) },
      ]}
    />
  );
}

function Facts({ providers }: { readonly providers: NonNullable<ListedModel["providers"]> }) {
  return (
    <DataTable
      label={TEXTS.models.facts}
      rows={factRowsOf(providers)}
      keyOf={({ provider, model, fact }) => `${provider} ${model} ${fact}`}
      columns={[
        { title: TEXTS.providers.provider, cell: ({ provider }) => provider },
        { title: TEXTS.models.fact, cell: ({ fact }) => <code>{fact}</code> },
        { title: TEXTS.models.factValue, cell: ({ value }) => <code>{value}</code> },
        { title: TEXTS.models.factSource, cell: ({ source }) => source },
      ]}
    />
  );
}

type ShownProvider = NonNullable<ListedModel["providers"]>[number];

function Providers({ providers }: { readonly providers: NonNullable<ListedModel["providers"]> }) {
  const shares = sharesOf(providers);
  return (
    <DataTable
      label={TEXTS.models.providers}
      rows={providers.map((provider, place) => ({ ...provider, share: shares[place] ?? 0 }))}
      keyOf={({ provider, model }) => `${provider} ${model}`}
      hrefOf={({ provider }) => hrefOf(`providers/${encodeURIComponent(provider)}`)}
      columns={[
        { title: TEXTS.providers.provider, cell: ({ provider }) => provider },
        { title: TEXTS.models.vendorModel, cell: ({ model }) => <code>{model}</code> },
        ...providers.some((each) => each.answered_by)
          ? [{ title: TEXTS.models.answeredBy, cell: (each: ShownProvider) => <code>{each.answered_by}</code> }]
          : [],
        { title: TEXTS.models.weight, isNumeric: true, cell: ({ weight }) => number(weight) },
        { title: TEXTS.models.share, isNumeric: true, cell: ({ share }) => percent(share) },
      ]}
    />
  );
}
