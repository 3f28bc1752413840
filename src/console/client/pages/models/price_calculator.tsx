import { useEffect, useState } from "preact/hooks";
import { type ApiError, change } from "../../api.ts";
import { Field } from "../../components/action_form.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { priceText } from "../../price_text.ts";
import type { ListedModel, PriceAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { ownPriceKeys, shortDecimal, videoVariantsOf } from "./model_facts.ts";

/** Calculates the cost of quantities, as the gateway does for a charge. Nothing is charged. */
export function PriceCalculator({ model: { id, pricing } }: { readonly model: ListedModel }) {
  const variants = videoVariantsOf(pricing);
  const [quantities, setQuantities] = useState<Readonly<Record<string, number>>>({});
  const [variant, setVariant] = useState(0);
  const [answer, setAnswer] = useState<PriceAnswer | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const body = { model: id, quantities, ...variants[variant]?.fields };
  const name = JSON.stringify(body);
  useEffect(() => {
    let isCurrent = true;
    change<PriceAnswer>("POST", "/admin/v1/models/price", body).then(
      (next) => {
        if (!isCurrent) return;
        setAnswer(next);
        setError(null);
      },
      (failure) => isCurrent && setError(failure),
    );
    return () => {
      isCurrent = false;
    };
  }, [name]);
  if (answer === null) return error === null ? <Loading /> : <ErrorNotice error={error} />;
  const set = (price: string, text: string) => setQuantities({ ...quantities, [price]: Number(text) || 0 });
  return (
    <>
      <div class="action-form">
        {variants.length > 0 && (
          <Field name={TEXTS.models.resolution}>
            <select value={variant} onChange={(event) => setVariant(Number(event.currentTarget.value))}>
              {variants.map(({ title }, index) => <option key={title} value={index}>{title}</option>)}
            </select>
          </Field>
        )}
        {ownPriceKeys(pricing, Object.keys(answer.rates)).map((price) => (
          <Field key={price} name={price}>
            <input
              type="number"
              min="0"
              step="any"
              placeholder="0"
              name={`quantity-${price}`}
              onInput={(event) => set(price, event.currentTarget.value)}
            />
          </Field>
        ))}
      </div>
      {error !== null && <ErrorNotice error={error} />}
      {answer.charged.length > 0 && (
        <DataTable
          label={TEXTS.models.calculator}
          rows={answer.charged}
          keyOf={({ price }) => price}
          columns={[
            { title: TEXTS.models.price, cell: ({ price }) => <code>{price}</code> },
            { title: TEXTS.models.quantity, isNumeric: true, cell: ({ quantity }) => quantity },
            { title: TEXTS.models.rate, isNumeric: true, cell: ({ price, rate }) => priceText(price, rate) },
            { title: TEXTS.models.cost, isNumeric: true, cell: ({ cost }) => shortDecimal(cost) },
          ]}
        />
      )}
      <p class="sum" role="status">
        {answer.charged.length === 0 ? TEXTS.models.nothingCharged : TEXTS.models.sum(shortDecimal(answer.cost))}
      </p>
    </>
  );
}
