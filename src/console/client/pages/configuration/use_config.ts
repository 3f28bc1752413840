import { read } from "../../api.ts";
import { type Polled, usePolled } from "../../lists/polled.ts";
import type { ConfigInForce } from "../../shapes.ts";

/** Reads the active configuration. */
export function useConfig(): Polled<ConfigInForce> {
  return usePolled("configuration", (signal) => read<ConfigInForce>("/admin/v1/config", {}, signal));
}
