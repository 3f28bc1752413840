import type { Authenticate } from "../money/billing/authenticate.ts";
import type { Caches } from "../services/caches/caches.ts";
import type { BodyLimits } from "../platform/http/bodies/body.ts";
import type { RequestFiles } from "../services/texts/request/text_request.ts";
import type { TextService } from "../services/texts/request/text_service.ts";

/** The dependencies of the text endpoints of every protocol. */
export interface TextRouteParts {
  readonly turns: TextService;
  readonly caches: Caches;
  readonly authenticate: Authenticate;
  readonly bodyLimits: BodyLimits;
  /** Puts stored files into requests that name them. */
  readonly files: RequestFiles;
}
