/** Where prices come from. Source: docs/models.md#prices-that-arrive. */
export interface PricesConfig {
  /** `built_in`, an address, or the path of a file. Default: `built_in`. */
  readonly source: string;
  /** Whether the source is `built_in`, so that nothing is read. */
  readonly isBuiltIn: boolean;
  /** The time between two readings in milliseconds. Default: six hours. */
  readonly everyMs: number;
  /** The part by which a price may change without a person: 0.5, the default, for a half. */
  readonly maxChange: number;
  /** The time without a reading after which `doctor` and the overview warn, in milliseconds. Default: 30 days. */
  readonly keepMs: number;
}

/** The source of the prices that come with the program. */
export const BUILT_IN_SOURCE = "built_in";
