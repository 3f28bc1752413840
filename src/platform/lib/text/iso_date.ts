/** A calendar date, such as `2026-09-22`, with or without a time of day in UTC. */
export function isDate(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}Z)?$/.test(value) && !Number.isNaN(Date.parse(value)) &&
    new Date(value).toISOString().startsWith(value.slice(0, 10));
}
