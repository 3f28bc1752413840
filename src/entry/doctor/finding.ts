/** The result of one check of the doctor. */
export interface Finding {
  /** `warning`: the gateway works, but something should be looked at. `problem`: something does not work. */
  readonly level: "ok" | "warning" | "problem";
  /** What was checked, such as `store` or `provider openai`. */
  readonly check: string;
  /** The result in one line, without secrets. */
  readonly text: string;
  /** What to do. Absent for `ok`. */
  readonly advice?: string;
}

/** Returns a finding without a fault. */
export function ok(check: string, text: string): Finding {
  return { level: "ok", check, text };
}

/** Returns a finding that should be looked at. */
export function warning(check: string, text: string, advice: string): Finding {
  return { level: "warning", check, text, advice };
}

/** Returns a finding of something that does not work. */
export function problem(check: string, text: string, advice: string): Finding {
  return { level: "problem", check, text, advice };
}

/** Writes a finding as a line for people, with the advice in a second one. */
export function writeFinding({ level, check, text, advice }: Finding): string {
  const line = `${level.padEnd(7)}  ${check}: ${text}`;
  return advice === undefined ? line : `${line}\n         → ${advice}`;
}

/** Maximum number of names in one finding. */
const MAX_NAMED = 10;

/** Writes what a finding names: the first ten of it, and how many more there are. */
export function enumerated(items: readonly string[]): string {
  const shown = items.slice(0, MAX_NAMED).join("; ");
  return items.length > MAX_NAMED ? `${shown}; and ${items.length - MAX_NAMED} more` : shown;
}
