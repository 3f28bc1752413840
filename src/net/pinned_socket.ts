import { connect as connectPlain, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import { type ByteStream, byteStreamOf } from "./byte_stream.ts";
import { EgressError, refusal } from "./egress_error.ts";
import { isUntrusted, tlsReasonOf } from "./trust.ts";

/** Where a socket is to go, and who has to be there. */
export interface PinnedTarget {
  /** True for https. */
  readonly tls: boolean;
  /** An IP address that was judged. Nothing else is connected to. */
  readonly address: string;
  readonly port: number;
  /** The name, or the address, that the certificate is checked against. */
  readonly hostname: string;
}

/** A socket that is being opened. */
export interface Opening {
  /**
   * Resolves when the connection stands; with TLS after the handshake, with the certificate checked.
   *
   * @throws {EgressError} `refused`, `connect`, `tls`, or what it was given up with.
   */
  readonly socket: Promise<ByteStream>;
  /** Lets go of it: the promise fails at once, and so does a handshake that has begun. */
  giveUp(failure: EgressError): void;
}

/** Opens sockets for HTTP/1.1, each to one address. */
export interface PinnedDialer {
  open(target: PinnedTarget): Opening;
}

/**
 * A dialer that trusts the usual roots and those of the operator.
 *
 * It works with Node's sockets. Deno's own keep the descriptor of a handshake that was given up until the peer hangs
 * up, so that receivers which never shake hands could use up all that the process may have. A handshake costs about a
 * millisecond of processor time either way. A chain that does not end at the operator's roots is looked at once more,
 * over a new connection, with the usual ones.
 *
 * @param caCertificates The operator's roots, in PEM.
 * @param usual The usual roots; others for tests.
 */
export function createPinnedDialer(caCertificates: readonly string[], usual?: SecureContext): PinnedDialer {
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
  readonly #target: PinnedTarget;
  readonly #roots: Roots;
  readonly #outcome = Promise.withResolvers<ByteStream>();
  #current: Duplex | null = null;
  #isOver = false;

  constructor(target: PinnedTarget, roots: Roots) {
    this.#target = target;
    this.#roots = roots;
    const { own, usual, usualHosts } = roots;
    if (!target.tls) this.#dialPlain();
    else this.#dial(usualHosts.has(target.hostname) ? [usual] : [...own, usual]);
  }

  get socket(): Promise<ByteStream> {
    return this.#outcome.promise;
  }

  giveUp(failure: EgressError): void {
    this.#isOver = true;
    this.#current?.destroy();
    this.#outcome.reject(failure);
  }

  #dialPlain(): void {
    const { address, port } = this.#target;
    try {
      const socket = connectPlain({ host: address, port, noDelay: true });
      this.#current = socket;
      const fail = (error: unknown) => this.#fail(error, []);
      socket.once("error", fail);
      socket.once("connect", () => {
        socket.off("error", fail);
        this.#outcome.resolve(byteStreamOf(socket));
      });
    } catch (error) {
      this.#fail(error, []);
    }
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
    if (others.length > 0 && isUntrusted(error)) return this.#dial(others);
    this.#roots.usualHosts.delete(this.#target.hostname);
    this.#outcome.reject(failureOf(error));
  }
}

/** Why a certificate is not accepted. Deno says of one that is out of date only that it could not be verified. */
function objectionTo(socket: TLSSocket): { readonly code: string } {
  const objection = { code: String(socket.authorizationError) };
  const { valid_to: until } = socket.getPeerCertificate();
  return isUntrusted(objection) && Date.parse(until) < Date.now() ? { code: "CERT_HAS_EXPIRED" } : objection;
}

/** Names, some thousands at most. */
class RecentNames {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    if (this.#names.size >= MAX_CACHED_NAMES) this.#names.clear();
    this.#names.add(name);
  }

  delete(name: string): void {
    this.#names.delete(name);
  }
}

const MAX_CACHED_NAMES = 10_000;

function failureOf(error: unknown): EgressError {
  if (error instanceof Deno.errors.NotCapable) {
    return refusal("private_address", "expected a host that may be reached");
  }
  return tlsReasonOf(error) === null
    ? new EgressError("connect", "no connection could be made", { cause: error })
    : new EgressError("tls", "its certificate or its TLS was not accepted", { cause: error });
}
