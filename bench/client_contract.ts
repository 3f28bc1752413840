/**
 * Runs the contract with hostile vendors for one client of the comparison: `client_contract.ts NAME`. Prints
 * {@linkcode ContractResult} as JSON.
 */
import { HOSTILE_CASES } from "../tests/contract/hostile_cases.ts";
import { runCase } from "../tests/contract/hostile_vendor.ts";
import { argument } from "./argument.ts";
import { asClientUnderTest, openClient } from "./http_clients.ts";

/** The contract's result for a client. */
export interface ContractResult {
  readonly cases: number;
  /** A line for each failed case. */
  readonly failures: readonly string[];
}

/** A client that does not return from a case in this time has failed it. */
const MAX_CASE_MS = 30_000;

async function play(name: string): Promise<ContractResult> {
  const failures: string[] = [];
  for (const one of HOSTILE_CASES) {
    const { promise: late, resolve } = Promise.withResolvers<string>();
    const timer = setTimeout(() => resolve("it did not return in time"), MAX_CASE_MS);
    const failure = await Promise.race([runCase(one, asClientUnderTest(openClient(name))), late]);
    clearTimeout(timer);
    if (failure !== null) failures.push(`${one.name}: ${failure}`);
  }
  return { cases: HOSTILE_CASES.length, failures };
}

if (import.meta.main) {
  // A client with an error that cannot be caught has failed; the next case reports it.
  globalThis.addEventListener("unhandledrejection", (event) => event.preventDefault());
  globalThis.addEventListener("error", (event) => event.preventDefault());
  console.log(JSON.stringify(await play(argument(0, "the name of a client"))));
  Deno.exit(0);
}
