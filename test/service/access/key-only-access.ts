import type { Access } from "../../../service/access/access.ts";
import { type ApiKeyAccessDeps, createApiKeyAccess } from "../../../service/access/api-key-access.ts";
import { createAccess } from "../../../service/access/create-access.ts";
import type { IdempotentAnswers } from "../../../service/access/idempotent-answers.ts";
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
