import { priceText } from "../../price_text.ts";

/** Prices in USD with their units, a line for each. */
export function PriceValues({ prices }: { readonly prices: Readonly<Record<string, unknown>> | null }) {
  if (prices === null) return null;
  return (
    <div class="values">
      {Object.entries(prices).map(([name, price]) => (
        <div key={name}>
          <code>{name}: {priceText(name, price)}</code>
        </div>
      ))}
    </div>
  );
}
