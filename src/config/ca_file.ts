import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { ConfigError } from "./tree/config_error.ts";

/** More than the roots of every system together. */
const MAX_BYTES = 4_000_000;
const EXPECTED = "egress.ca_file: expected a readable file of at most 4 MB with certificates in PEM";
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Reads the file of additional trusted roots.
 *
 * @returns Its text, which has at least one certificate.
 * @throws {ConfigError} A problem that names the setting, for any other file.
 */
export async function readCaFile(path: string): Promise<string> {
  try {
    // A pipe would be waited for when it is opened.
    refuseOther(await Deno.stat(path));
    using file = await Deno.open(path);
    refuseOther(await file.stat());
    const text = new TextDecoder().decode(await firstBytes(file));
    refuseWithoutCertificate(text);
    return text;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw problem(
      error instanceof Deno.errors.NotFound ? "no such file" : error instanceof Error ? error.name : "nothing",
    );
  }
}

function refuseOther({ isFile, isDirectory, size }: Deno.FileInfo): void {
  if (isDirectory) throw problem("a folder");
  if (!isFile) throw problem("a device, a pipe or a socket");
  if (size > MAX_BYTES) throw problem(`a file of ${size} bytes`);
}

/** A file can grow while it is read. */
async function firstBytes(file: Deno.FsFile): Promise<Uint8Array> {
  const bytes = new Uint8Array(MAX_BYTES + 1);
  let filled = 0;
  while (filled < bytes.length) {
    const count = await file.read(bytes.subarray(filled));
    if (count === null) return bytes.subarray(0, filled);
    filled += count;
  }
  throw problem(`a file of more than ${MAX_BYTES} bytes`);
}

function refuseWithoutCertificate(text: string): void {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw problem("a file without a certificate");
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(Buffer.from(block));
    } catch {
      throw problem(`a file whose certificate ${index + 1} cannot be read`);
    }
  }
}

function problem(got: string): ConfigError {
  return new ConfigError([`${EXPECTED}, got ${got}`]);
}
