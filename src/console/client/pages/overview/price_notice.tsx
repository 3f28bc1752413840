import { read } from "../../api.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import type { PriceSource } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const REFRESH_MS = 60_000;

/** Reads the price source, and shows what a person has to do about it. */
export function PriceNotice() {
  const { data } = usePolled("prices", (signal) => read<PriceSource>("/admin/v1/prices", {}, signal), REFRESH_MS);
  return data === null ? null : <PriceNoticeText source={data} />;
}

/** Nothing, unless the price source could not be read for long, or changes of prices wait. */
export function PriceNoticeText({ source }: { readonly source: PriceSource }) {
  const { is_stale: isStale, pending } = source;
  if (!isStale && pending.length === 0) return null;
  return (
    <div class={isStale ? "notice bad" : "notice"} role="status">
      <p>
        {isStale ? TEXTS.prices.stale : TEXTS.prices.pendingCount(String(pending.length))}{" "}
        <a href={hrefOf("prices")}>{TEXTS.prices.title}</a>
      </p>
    </div>
  );
}
