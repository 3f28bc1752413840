import type { Authenticate } from "../billing/authenticate.ts";
import type { Caches } from "../caches/caches.ts";
import type { BodyLimits } from "../http/body.ts";
import type { TextService } from "../texts/text_service.ts";

/** The dependencies of the text endpoints of every protocol. */
export interface TextRouteParts {
  readonly turns: TextService;
  readonly caches: Caches;
  readonly authenticate: Authenticate;
  readonly bodyLimits: BodyLimits;
}
