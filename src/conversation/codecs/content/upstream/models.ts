/**
 * What the name of one of the vendor's models says about it. Names that say nothing (`gemini-flash-latest`, names of
 * other makers) count as the newest kind.
 */
export interface ModelTraits {
  /** `2.5` of `gemini-2.5-pro`; Infinity when the name has none. */
  readonly generation: number;
  readonly isPro: boolean;
  readonly isLite: boolean;
}

/** @param model The vendor's name of the model. */
export function traitsOf(model: string): ModelTraits {
  const generation = /gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1];
  return {
    generation: generation === undefined ? Infinity : Number(generation),
    isPro: /\bpro\b/.test(model),
    isLite: /\blite\b/.test(model),
  };
}

/** True for models that are known to read media inside a `functionResponse`. */
export function readsMediaInAnswers(model: string): boolean {
  const { generation } = traitsOf(model);
  return generation >= 3 && generation !== Infinity;
}
