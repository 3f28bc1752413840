import openWabt from "wabt";

/** Assembles a WebAssembly module in its text format, with the vector instructions. */
export async function buildWasm(source: string): Promise<Uint8Array> {
  const wabt = await openWabt();
  const module = wabt.parseWat("module.wat", source, { simd: true });
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}
