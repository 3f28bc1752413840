import { connect, type Socket } from "node:net";
import { once } from "node:events";
import type { Server } from "./child.ts";
import { HEAVY_KEY, OPERATOR_KEY } from "./neighbour_gateway.ts";
import { processState } from "./process_state.ts";

/** The memory of a gateway whose callers do not read their streams. */
export interface UnreadFigures {
  readonly callers: number;
  /** Resident memory before. */
  readonly beforeBytes: number;
  /** Resident memory when nothing more is sent. */
  readonly afterBytes: number;
  /** What `limits.memory` counts then. */
  readonly countedBytes: number;
}

/** The callers whose memory is measured. */
export const UNREAD_CALLERS = 400;
const GAUGE = /^switchyard_memory_budget_bytes(?:\{[^}]*\})? (\S+)$/m;

/** The gateway has sent all that the system takes when it uses less of a second of the processor, for so long. */
const IDLE_MS = 100;
const IDLE_SECONDS = 5;
const MAX_SECONDS = 180;

/** Opens streams of a vendor that sends as fast as it is read, reads nothing, and measures when no more is taken. */
export async function measureUnreadCallers(gateway: Server, callers: number): Promise<UnreadFigures> {
  const before = await processState(gateway.pid);
  const sockets = await Promise.all(Array.from({ length: callers }, () => unreadStream(gateway.port)));
  try {
    let state = before;
    for (let second = 0, idle = 0; second < MAX_SECONDS && idle < IDLE_SECONDS; second++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const now = await processState(gateway.pid);
      idle = (now?.cpuMs ?? 0) - (state?.cpuMs ?? 0) < IDLE_MS ? idle + 1 : 0;
      state = now;
    }
    const metrics = await fetch(`http://127.0.0.1:${gateway.port}/metrics`, {
      headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    });
    const countedBytes = Number(GAUGE.exec(await metrics.text())?.[1] ?? NaN);
    return {
      callers,
      beforeBytes: before?.residentBytes ?? 0,
      afterBytes: state?.residentBytes ?? 0,
      countedBytes,
    };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

async function unreadStream(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.pause();
  const body = JSON.stringify({ model: "bench/fast", stream: true, messages: [{ role: "user", content: "x" }] });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${HEAVY_KEY}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}
