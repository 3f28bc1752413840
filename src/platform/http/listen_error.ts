/** The settings of an address. They can be one. */
export interface AddressSettings {
  readonly host: string;
  readonly port: string;
}

/** The settings of the gateway's own address. */
export const SERVER_ADDRESS: AddressSettings = { host: "server.host", port: "server.port" };

/** An address of the configuration at which this process cannot listen. */
export class ListenError extends Error {
  override readonly name = "ListenError";

  /**
   * @param setting The configuration field to change.
   * @param address The address.
   * @param reason The reason and what to do, in plain words.
   */
  constructor(readonly setting: string, readonly address: string, readonly reason: string, options?: ErrorOptions) {
    super(`Cannot listen at ${address} (setting "${setting}"): ${reason}`, options);
  }
}

/** Converts an error of listening to a {@linkcode ListenError}. Any other error is returned unchanged. */
export function asListenError(
  { host, port }: { readonly host: string; readonly port: number },
  settings: AddressSettings,
  error: unknown,
): unknown {
  const found = reasonOf(error, port);
  if (found === null) return error;
  const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return new ListenError(settings[found.part], address, found.reason, { cause: error });
}

/** Ports below need a permission. Source: Linux, `net.ipv4.ip_unprivileged_port_start`. */
const UNPRIVILEGED_PORT = 1024;

function reasonOf(error: unknown, port: number): { readonly part: "host" | "port"; readonly reason: string } | null {
  if (error instanceof Deno.errors.AddrInUse) {
    return { part: "port", reason: "another process uses the port; stop it, or choose another port" };
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return { part: "host", reason: "this machine has no such address; choose one that it has, 127.0.0.1 or 0.0.0.0" };
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    const reason = port < UNPRIVILEGED_PORT
      ? `a port below ${UNPRIVILEGED_PORT} needs a permission; choose a higher one, or grant CAP_NET_BIND_SERVICE`
      : "permission denied";
    return { part: "port", reason };
  }
  if (error instanceof Deno.errors.NotCapable) {
    return { part: "host", reason: "this process may not listen there; start it with --allow-net" };
  }
  // The platform has no class for it.
  if (error instanceof Error && /failed to lookup address/i.test(error.message)) {
    return { part: "host", reason: "the host name cannot be resolved; choose an address of this machine" };
  }
  return null;
}
