import { readMoney } from "../../src/platform/lib/basics/money.ts";

/** The address and account of the queries. */
export interface AccountMoneyOptions {
  readonly address: string;
  readonly adminKey: string;
  /** Default `demo`. */
  readonly account?: string;
}

/** One charged request, as in the ledger. */
export interface ChargedRequest {
  readonly request_id: string;
  readonly model: string;
  readonly provider: string;
  readonly cost: string;
  readonly usage: Readonly<Record<string, number | boolean>>;
}

/** Reads an account's balance and charges through the admin API. */
export function accountMoney({ address, adminKey, account = "demo" }: AccountMoneyOptions) {
  async function ask(path: string) {
    const response = await fetch(`${address}/admin/v1/accounts/${account}${path}`, {
      headers: { authorization: `Bearer ${adminKey}` },
    });
    return await response.json();
  }
  return {
    /** The balance in units of 10^-10 USD. */
    async balance(): Promise<bigint> {
      return readMoney((await ask("")).balance);
    },
    /** The latest charge; null before the first. */
    async latestCharge(): Promise<ChargedRequest | null> {
      const { data } = await ask("/ledger?order=desc&limit=20");
      const line = data.find(({ operation }: { operation: string }) => operation === "charge");
      return line?.requests.at(-1) ?? null;
    },
  };
}

/** The balance and charges of an account. */
export type AccountMoney = ReturnType<typeof accountMoney>;

/** Waits until `look` returns a value; for effects that follow a server's response. */
export async function eventually<T>(look: () => Promise<T | null | false> | T | null | false): Promise<T> {
  for (let tries = 0; tries < 1_000; tries++) {
    const found = await look();
    if (found !== null && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("It did not come to pass");
}
