const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

/** A number with at most two decimals. */
export function number(value: number): string {
  return NUMBER.format(value);
}

/** A number with few digits: `12.3K`. */
export function compact(value: number): string {
  return COMPACT.format(value);
}

/** A share between 0 and 1 in percent. */
export function percent(share: number): string {
  return PERCENT.format(share);
}

/** An amount of US dollars: two decimals, or more for small ones. */
export function dollars(amount: string | number): string {
  const value = Number(amount);
  const size = Math.abs(value);
  const digits = size === 0 || size >= 1 ? 2 : size >= 0.01 ? 4 : 6;
  return `${value < 0 ? "−" : ""}$${
    size.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: digits })
  }`;
}

/** A duration: `158 ms`, `2.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${number(Math.round(ms / 10) / 100)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round(ms % 60_000 / 1_000)} s`;
}

/** A size in binary units. */
export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`;
  const unit = Math.min(Math.floor(Math.log2(size) / 10), 4);
  return `${number(size / 1_024 ** unit)} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}

/** An instant in the viewer's time zone, with seconds. */
export function localTime(seconds: number): string {
  const at = new Date(seconds * 1_000);
  const pad = (part: number) => String(part).padStart(2, "0");
  const date = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${date} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

/** An instant in UTC, with milliseconds. */
export function utcTime(seconds: number): string {
  return new Date(Math.round(seconds * 1_000)).toISOString().replace("T", " ").replace("Z", " UTC");
}
