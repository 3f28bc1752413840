/** Prices in USD, a line for each. */
export function PriceValues({ prices }: { readonly prices: Readonly<Record<string, unknown>> | null }) {
  if (prices === null) return null;
  return (
    <div class="values">
      {Object.entries(prices).map(([name, price]) => (
        <div key={name}>
          <code>{name}: {String(price)}</code>
        </div>
      ))}
    </div>
  );
}
