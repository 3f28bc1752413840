/** An isolate that counts the reads of bodies between two turns of its event loop, and posts each new maximum. */
import "../../src/entry/app/threads/serving_thread.ts";

const channel = new BroadcastChannel("counting-isolates");
let reads = 0;
let most = 0;
const { read } = ReadableStreamDefaultReader.prototype;
ReadableStreamDefaultReader.prototype.read = function (this: ReadableStreamDefaultReader) {
  if (++reads > most) channel.postMessage(most = reads);
  return read.call(this);
};

function count(): void {
  reads = 0;
  setTimeout(count, 0);
}
count();
