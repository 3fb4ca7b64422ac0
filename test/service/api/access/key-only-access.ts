import type { Access } from "../../../../service/api/access/access.ts";
import { type ApiKeyAccessDeps, createApiKeyAccess } from "../../../../service/api/access/api-key-access.ts";
import { createAccess } from "../../../../service/api/access/create-access.ts";
import type { IdempotentAnswers } from "../../../../service/store/idempotent-answers.ts";
import { memoryGate } from "./memory-gate.ts";

/** Access by API key alone, with limits and repeats of this process. */
export function keyOnlyAccess(deps: ApiKeyAccessDeps, answers?: IdempotentAnswers): Access {
  return createAccess({
    keys: createApiKeyAccess(deps),
    payments: null,
    ...memoryGate(answers),
    payerRatePerMinute: 600,
  });
}
