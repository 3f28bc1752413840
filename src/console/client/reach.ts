import { signal } from "@preact/signals";

/** When the gateway answered last, in Unix milliseconds. */
let answeredAt = Date.now();

/** Since when the gateway does not answer, in Unix milliseconds: its last answer. Null while it answers. */
export const awaySince = signal<number | null>(null);

/** How often the gateway has come back. What is shown is read again then. */
export const returns = signal(0);

/** Notes an answer of the gateway. */
export function noteAnswer(): void {
  answeredAt = Date.now();
  if (awaySince.value === null) return;
  awaySince.value = null;
  returns.value++;
}

/** Notes that the gateway did not answer. */
export function noteSilence(): void {
  awaySince.value ??= answeredAt;
}
