/** Makes every connection to {@linkcode MISTAKEN_HOST} of this thread fail by a mistake of the gateway's own. */

/** A loopback address that only the test uses. */
export const MISTAKEN_HOST = "127.0.0.9";

const { connect } = Deno;
Object.defineProperty(Deno, "connect", {
  value: (options: Deno.ConnectOptions) => {
    if (options.hostname === MISTAKEN_HOST) throw new TypeError("network.kind is not a function");
    return connect(options);
  },
});
