import type { OperatedState, ProviderHalt } from "../../../platform/names/provider_halt.ts";
import type { ProviderConfig } from "./provider_config.ts";

/** What the models of a catalog need of the configuration of their providers. */
export function servingProviders(configs: Readonly<Record<string, Pick<ProviderConfig, "credentials" | "halt">>>): {
  readonly credentials: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly halts: ReadonlyMap<string, ProviderHalt>;
} {
  const credentials = new Map<string, ReadonlyMap<string, number>>();
  const halts = new Map<string, ProviderHalt>();
  for (const [provider, { credentials: named, halt }] of Object.entries(configs)) {
    if (named) credentials.set(provider, new Map(named.map(({ name, weight }) => [name, weight] as const)));
    if (halt) halts.set(provider, halt);
  }
  return { credentials, halts };
}

/** The state that an operator gave a provider. */
export interface ServiceState {
  readonly state: OperatedState;
  /** The name of the admin key that set it; null if the configuration states it, or if nobody does. */
  readonly by: string | null;
  /** Unix milliseconds; null for a provider whose state was never set. */
  readonly since: number | null;
  /** Why, in the words of who has set it. Absent: no reason was given. */
  readonly reason?: string;
}

/** The state of a provider, and who has set it since when and why. */
export function serviceStateOf({ halt, setState }: Pick<ProviderConfig, "halt" | "setState">): ServiceState {
  return setState ?? halt ?? { state: "on", by: null, since: null };
}
