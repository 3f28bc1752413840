import { Buffer } from "node:buffer";

/**
 * Finds the requests in a connection's bytes. It trusts its client, which is always a program of this benchmark: a body
 * ends by `content-length`, or by the empty chunk, which JSON cannot contain.
 */
export class RequestSplitter {
  #pending = "";

  /** The paths of the requests that are complete with these bytes. */
  take(bytes: Uint8Array<ArrayBuffer>): string[] {
    this.#pending += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    const paths: string[] = [];
    for (let end = endOfFirst(this.#pending); end !== null; end = endOfFirst(this.#pending)) {
      const pathAt = this.#pending.indexOf(" ") + 1;
      paths.push(this.#pending.slice(pathAt, this.#pending.indexOf(" ", pathAt)));
      this.#pending = this.#pending.slice(end);
    }
    return paths;
  }
}

/** The end of the first request; null while it is incomplete. */
function endOfFirst(text: string): number | null {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return null;
  const bodyAt = headEnd + 4;
  const head = text.slice(0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length !== null) {
    const end = bodyAt + Number(length[1]);
    return text.length < end ? null : end;
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return bodyAt;
  const last = text.indexOf("0\r\n\r\n", bodyAt);
  return last === -1 ? null : last + 5;
}
