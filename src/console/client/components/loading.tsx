import { TEXTS } from "../texts.ts";

/** Stands for data that is being read. */
export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">{TEXTS.app.loading}</span>
    </div>
  );
}
