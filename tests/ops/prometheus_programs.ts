import { join } from "node:path";
import { succeeds, unpackPackages } from "./debian_packages.ts";

/** The programs of Prometheus. */
export interface PrometheusPrograms {
  /** The paths of the executables. */
  readonly prometheus: string;
  readonly promtool: string;
}

/**
 * Returns the installed programs, or unpacks those of Debian's package `prometheus` below a folder. That needs
 * `apt-get`, `dpkg` and a network, but no rights.
 *
 * @param folder An empty folder.
 * @throws {Error} If neither is possible. The message has the reason.
 */
export async function prometheusPrograms(folder: string): Promise<PrometheusPrograms> {
  if (await succeeds("prometheus", "--version") && await succeeds("promtool", "--version")) {
    return { prometheus: "prometheus", promtool: "promtool" };
  }
  try {
    await unpackPackages(["prometheus"], folder);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`prometheus and promtool are not installed, and Debian's package cannot be unpacked: ${reason}`);
  }
  const programs = join(folder, "usr", "bin");
  return { prometheus: join(programs, "prometheus"), promtool: join(programs, "promtool") };
}
