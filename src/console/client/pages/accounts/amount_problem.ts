const AMOUNT = /^([-+]?)(\d{1,20})(?:\.(\d{1,10}))?$/;
const MAX_USD = 10_000_000;

/** Which amounts a field accepts: those above zero, or also those below. */
export type AmountKind = "positive" | "signed";

/** Why a text is no amount of USD. */
export type AmountProblem = "format" | "digits" | "zero" | "negative" | "large";

/** Finds what is wrong with a text as an amount; null if nothing is. */
export function amountProblem(text: string, kind: AmountKind): AmountProblem | null {
  const amount = text.trim();
  if (/^[-+]?\d+\.\d{11,}$/.test(amount)) return "digits";
  const [, sign, whole = "", fraction = ""] = AMOUNT.exec(amount) ?? [];
  if (sign === undefined) return /^[-+]?\d{21,}/.test(amount) ? "large" : "format";
  if (sign === "+") return "format";
  if (/^0*$/.test(whole + fraction)) return "zero";
  if (sign === "-" && kind === "positive") return "negative";
  const isLarge = Number(whole) > MAX_USD || (Number(whole) === MAX_USD && !/^0*$/.test(fraction));
  return isLarge ? "large" : null;
}
