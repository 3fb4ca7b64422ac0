import type { Access } from "../../../../service/api/access/access.ts";
import { type ApiKeyAccessDeps, createApiKeyAccess } from "../../../../service/api/access/api-key-access.ts";
import { createAccess } from "../../../../service/api/access/create-access.ts";

/** Access by API key alone: no payments, no limits, no repeats. */
export function keyOnlyAccess(deps: ApiKeyAccessDeps): Access {
  return createAccess({
    keys: createApiKeyAccess(deps),
    payments: null,
    limiter: null,
    repeats: null,
    payerRatePerMinute: 600,
  });
}
