import type { Route } from "../../../platform/http/request/inbound.ts";
import { RequestRate } from "../../../money/limits/request_rate.ts";
import { storedFileRoutes } from "../../../protocols/default/stored_files.ts";
import { uploadRoutes } from "../../../protocols/default/uploads.ts";
import { contentFileRoutes } from "../../../protocols/content/files.ts";
import { contentUploadRoutes } from "../../../protocols/content/uploads.ts";
import { messageFileRoutes } from "../../../protocols/message/files.ts";
import { Uploads } from "../../../services/stored_files/uploads.ts";
import { createAccountRoom } from "./account_room.ts";
import type { Services } from "./services.ts";
import { createStoredFiles } from "./stored_files.ts";

/**
 * Builds the endpoints of files that callers store, in every protocol.
 *
 * @param baseUrl Gives the gateway's own address without a final slash.
 */
export function buildStoredFileRoutes(services: Services, baseUrl: () => string): Route[] {
  const { config: { limits }, store, authenticate } = services;
  const stored = createStoredFiles(services);
  const parts = {
    stored,
    uploads: new Uploads(stored),
    authenticate,
    bodyLimits: { capBytes: limits.textBodyBytes, idleMs: limits.bodyIdleMs },
    changes: new RequestRate(store, "file-changes", limits.reads),
    room: createAccountRoom(services, () => limits.accountFilesBytes),
  };
  return [
    ...storedFileRoutes(parts),
    ...uploadRoutes(parts),
    ...messageFileRoutes(parts),
    ...contentFileRoutes({ ...parts, baseUrl }),
    ...contentUploadRoutes({ ...parts, baseUrl }),
  ];
}
