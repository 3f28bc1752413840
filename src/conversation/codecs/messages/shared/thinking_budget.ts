/** The smallest budget of thinking tokens that is allowed. Source: Messages API reference, "Extended thinking". */
export const MIN_BUDGET_TOKENS = 1024;
