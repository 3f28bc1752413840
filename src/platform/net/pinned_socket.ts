import { connect as connectPlain, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import { type ByteStream, byteStreamOf } from "./byte_stream.ts";
import { EgressError, refusal } from "./egress_error.ts";
import type { GatewayError } from "../lib/basics/gateway_error.ts";
import { GatedSocket } from "./gated_socket.ts";
import { descriptorShortage } from "./own_failure.ts";
import { isUntrusted, tlsFailureCode } from "./trust.ts";

/** The destination of a socket and the expected identity. */
export interface PinnedTarget {
  /** True for https. */
  readonly tls: boolean;
  /** A checked IP address. Nothing else is connected to. */
  readonly address: string;
  readonly port: number;
  /** The name or address that the certificate is verified against. */
  readonly hostname: string;
}

/** A socket that is being opened. */
export interface Opening {
  /**
   * Resolves when the connection is open; with TLS, after the handshake and the verification of the certificate.
   *
   * @throws {EgressError} `refused`, `connect`, `tls`, or the reason of the cancellation.
   * @throws {GatewayError} `overloaded` if no descriptor is free.
   */
  readonly socket: Promise<ByteStream>;
  /** Cancels it: the promise rejects at once, and a running handshake ends. */
  cancel(failure: EgressError): void;
}

/** Opens sockets for HTTP/1.1, each to one address. */
export interface PinnedDialer {
  open(target: PinnedTarget): Opening;
}

/**
 * Creates a dialer that trusts the platform's root certificates and those of the operator.
 *
 * It uses Node.js sockets. Deno's own sockets keep the descriptor of a cancelled handshake until the peer closes, so
 * receivers that never complete a handshake could exhaust the descriptors of the process. A handshake costs about a
 * millisecond of processor time in both cases. A chain that does not end at one of the operator's roots is verified
 * again with the platform's roots, over a new connection.
 *
 * @param caCertificates The operator's root certificates in PEM.
 * @param usual The platform's root certificates; replaced in tests.
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
  /** Hosts whose last certificate chained to these roots, so that the operator's roots need not be tried first. */
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

  cancel(failure: EgressError): void {
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
      const gate = new GatedSocket(connectPlain({ host: address, port, noDelay: true }));
      const socket = connect({
        socket: gate,
        host: address, // the certificate is verified against it if there is no name
        ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
        ALPNProtocols: ["http/1.1"],
        rejectUnauthorized: false, // verified below, where the reason is available; nothing is written before
        ...(trust === undefined ? {} : { secureContext: trust }),
      });
      this.#current = socket;
      const fail = (error: unknown) => this.#fail(error, others);
      socket.once("error", fail);
      socket.once("secureConnect", () => {
        socket.off("error", fail);
        if (!socket.authorized) return fail(objectionTo(socket));
        if (others.length === 0) this.#roots.usualHosts.add(hostname);
        this.#outcome.resolve(byteStreamOf(socket, gate));
      });
    } catch (error) {
      this.#fail(error, []);
    }
  }

  #fail(error: unknown, others: readonly Roots["usual"][]): void {
    this.#current?.on("error", () => {}); // errors after the cancellation
    this.#current?.destroy();
    if (this.#isOver) return;
    if (others.length > 0 && isUntrusted(error)) return this.#dial(others);
    this.#roots.usualHosts.delete(this.#target.hostname);
    this.#outcome.reject(failureOf(error));
  }
}

/** Why a certificate is rejected. Deno reports an expired one only as not verified. */
function objectionTo(socket: TLSSocket): { readonly code: string } {
  const objection = { code: String(socket.authorizationError) };
  const { valid_to: until } = socket.getPeerCertificate();
  return isUntrusted(objection) && Date.parse(until) < Date.now() ? { code: "CERT_HAS_EXPIRED" } : objection;
}

/** A bounded set of recent names. */
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

function failureOf(error: unknown): EgressError | GatewayError {
  if (error instanceof Deno.errors.NotCapable) {
    return refusal("private_address", "expected a host that may be reached");
  }
  const shortage = descriptorShortage(error);
  if (shortage !== null) return shortage;
  return tlsFailureCode(error) === null
    ? new EgressError("connect", "the connection failed", { cause: error })
    : new EgressError("tls", "the TLS handshake failed or the certificate was rejected", { cause: error });
}
