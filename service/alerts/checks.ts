import type { Check } from "../check.ts";
import { judgeQueue } from "../db/checks.ts";
import type { Database } from "../db/database.ts";
import { readWebhookQueue } from "./webhook-log.ts";

/** Whether a worker delivers webhooks. */
export function alertChecks(db: Database, now: () => Promise<Date>): readonly Check[] {
  return [
    {
      name: "queues",
      run: async () => {
        const { depth, lagSeconds } = await readWebhookQueue(db, await now());
        return judgeQueue("webhooks", { waiting: depth, overdueSeconds: lagSeconds });
      },
    },
  ];
}
