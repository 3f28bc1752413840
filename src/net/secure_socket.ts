import { isIP } from "node:net";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import { type ByteStream, byteStreamOf } from "./byte_stream.ts";
import { EgressError, refusal } from "./egress_error.ts";

/** Where a socket is to go, and who has to be there. */
export interface SecureTarget {
  /** An IP address that was judged. Nothing else is connected to. */
  readonly address: string;
  readonly port: number;
  /** The name, or the address, that the certificate is checked against. */
  readonly hostname: string;
}

/** A socket that is being opened. */
export interface Opening {
  /**
   * Resolves after the TLS handshake, with the certificate checked.
   *
   * @throws {EgressError} `refused`, `connect`, `tls`, or what it was given up with.
   */
  readonly socket: Promise<ByteStream>;
  /** Lets go of it: the promise fails at once, and so does a handshake that has begun. */
  giveUp(failure: EgressError): void;
}

/** Opens TLS sockets for HTTP/1.1, each to one address. */
export interface SecureDialer {
  open(target: SecureTarget): Opening;
}

/**
 * A dialer that trusts the usual roots and those of the operator.
 *
 * It works with Node's sockets. Deno's own keep the descriptor of a handshake that was given up until the peer hangs up, so
 * that receivers which never shake hands could use up all that the process may have. A handshake costs about a millisecond of
 * processor time either way, but only while roots are few: Deno reads those that are named anew for each, all of them for
 * 17 ms. So the operator's stand in a context of their own, and a chain that does not end there is looked at once more,
 * over a new connection, with the usual ones.
 *
 * @param caCertificates The operator's roots, in PEM.
 * @param usual The usual roots; others for tests.
 */
export function createSecureDialer(caCertificates: readonly string[], usual?: SecureContext): SecureDialer {
  const own = caCertificates.length === 0 ? [] : [createSecureContext({ ca: [...caCertificates] })];
  const roots = { own, usual, usualHosts: new RecentNames() };
  return { open: (target) => new Dialing(target, roots) };
}

interface Roots {
  readonly own: readonly SecureContext[];
  /** Undefined: those of the platform. */
  readonly usual: SecureContext | undefined;
  /** Hosts whose certificates stood under these last, so that the operator's own need not be tried first. */
  readonly usualHosts: RecentNames;
}

class Dialing implements Opening {
  readonly #target: SecureTarget;
  readonly #roots: Roots;
  readonly #outcome = Promise.withResolvers<ByteStream>();
  #current: TLSSocket | null = null;
  #isOver = false;

  constructor(target: SecureTarget, roots: Roots) {
    this.#target = target;
    this.#roots = roots;
    const { own, usual, usualHosts } = roots;
    this.#dial(usualHosts.has(target.hostname) ? [usual] : [...own, usual]);
  }

  get socket(): Promise<ByteStream> {
    return this.#outcome.promise;
  }

  giveUp(failure: EgressError): void {
    this.#isOver = true;
    this.#current?.destroy();
    this.#outcome.reject(failure);
  }

  #dial([trust, ...others]: readonly Roots["usual"][]): void {
    const { address, port, hostname } = this.#target;
    try {
      const socket = connect({
        host: address,
        port,
        ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
        ALPNProtocols: ["http/1.1"],
        rejectUnauthorized: false, // judged below, where it can be said why; nothing is written before
        ...(trust === undefined ? {} : { secureContext: trust }),
      });
      this.#current = socket;
      socket.setNoDelay(true);
      const fail = (error: unknown) => this.#fail(error, others);
      socket.once("error", fail);
      socket.once("secureConnect", () => {
        socket.off("error", fail);
        if (!socket.authorized) return fail(objectionTo(socket));
        if (others.length === 0) this.#roots.usualHosts.add(hostname);
        this.#outcome.resolve(byteStreamOf(socket));
      });
    } catch (error) {
      this.#fail(error, []);
    }
  }

  #fail(error: unknown, others: readonly Roots["usual"][]): void {
    this.#current?.on("error", () => {}); // what a socket says after it was given up
    this.#current?.destroy();
    if (this.#isOver) return;
    if (others.length > 0 && UNTRUSTED.has(codeOf(error))) return this.#dial(others);
    this.#roots.usualHosts.delete(this.#target.hostname);
    this.#outcome.reject(failureOf(error));
  }
}

/** Why a certificate is not accepted. Deno says of one that is out of date only that it could not be verified. */
function objectionTo(socket: TLSSocket): { readonly code: string } {
  const code = String(socket.authorizationError);
  const { valid_to: until } = socket.getPeerCertificate();
  return { code: UNTRUSTED.has(code) && Date.parse(until) < Date.now() ? "CERT_HAS_EXPIRED" : code };
}

/** Names, some thousands at most. */
class RecentNames {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    if (this.#names.size >= MOST_NAMES) this.#names.clear();
    this.#names.add(name);
  }

  delete(name: string): void {
    this.#names.delete(name);
  }
}

const MOST_NAMES = 10_000;

/** OpenSSL's words for a chain that ends at no root that is trusted (`X509_V_ERR_…`), as Node gives them. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);

/**
 * Why a handshake failed, in a word; null when there is no more to say.
 *
 * @param cause What an {@linkcode EgressError} of the kind `tls` was caused by.
 */
export function tlsReasonOf(cause: unknown): string | null {
  const code = codeOf(cause);
  if (code === "CERT_HAS_EXPIRED") return "certificate_expired";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "certificate_name";
  if (UNTRUSTED.has(code)) return "certificate_untrusted";
  if (/CERT/.test(code)) return "certificate";
  return /^ERR_SSL_|^EPROTO$/.test(code) ? "protocol" : null;
}

function failureOf(error: unknown): EgressError {
  if (error instanceof Deno.errors.NotCapable) {
    return refusal("private_address", "expected a host that may be reached");
  }
  return tlsReasonOf(error) === null
    ? new EgressError("connect", "no connection could be made", { cause: error })
    : new EgressError("tls", "its certificate or its TLS was not accepted", { cause: error });
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}
