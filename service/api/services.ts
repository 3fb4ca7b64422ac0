import type { SCORING_ENDPOINTS } from "./create-app.ts";
import type { ServerServices } from "./create-interface.ts";
import type { VERIFICATION_ENDPOINTS } from "./create-verification-app.ts";
import type { NeedsOf } from "./kit/endpoint.ts";

/** The server's own services, and those that the endpoints of both interfaces name. `bin/serve/create-services.ts` builds them. */
export type Services = ServerServices &
  NeedsOf<typeof SCORING_ENDPOINTS> &
  NeedsOf<typeof VERIFICATION_ENDPOINTS>;
