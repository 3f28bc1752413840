/** An account, or one of its keys. */
export interface Holder {
  readonly account: string;
  /** Null for the account itself. */
  readonly key: string | null;
  readonly name: string | null;
}
