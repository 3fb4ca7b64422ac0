import type { Address } from "viem";
import { type ApiKeyAccessDeps, createApiKeyAccess } from "../../../../service/access/api-key-access.ts";
import { type ApiKey, hashApiKey, type KeyWithSecret } from "../../../../service/access/api-keys.ts";

import type { Services } from "../../../../service/api/services.ts";
import type { RoutingPolicy } from "../../../../service/model/score/route.ts";
import { DEFAULT_VERSION, type StoredPolicy } from "../../../../service/scores/routing-policies.ts";

export const KEY_ID = "7f8d3c1e-5b1a-8c60-9b39-0d9e4a7a2f10";
export const NEW_SECRET = `ahs_${"n".repeat(43)}`;

/** A key with 25 USD that a wallet bought. */
export function storedKey(changes: Partial<ApiKey> = {}): ApiKey {
  return {
    id: KEY_ID,
    name: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    partner: false,
    keyPrefix: "ahs_nnnnnnnn",
    balanceUnits: 25_000,
    ratePerMinute: 600,
    scopes: [],
    boughtBy: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
    expiresAt: null,
    revokedAt: null,
    createdAt: new Date("2026-11-01T08:00:00.000Z"),
    ...changes,
  };
}

/** Ports that sell, renew and show one key. */
export function fakeKeyPorts(
  ledger: ApiKeyAccessDeps["keys"],
  { clock, logger }: Pick<Parameters<typeof createApiKeyAccess>[0], "clock" | "logger">,
  changes: Partial<Services["keys"]> = {},
): Pick<Services, "keys"> {
  const sold: KeyWithSecret = { key: storedKey(), secret: NEW_SECRET };
  const { identify } = createApiKeyAccess({ keys: ledger, clock, logger });
  return {
    keys: {
      identify,
      enter: identify,
      buy: async ({ units }) => ({ ...sold, key: storedKey({ balanceUnits: units }) }),
      topUp: async ({ units }) => storedKey({ balanceUnits: 25_000 + units }),
      rotate: async () => sold,
      find: async () => storedKey(),
      boughtBy: async () => [KEY_ID],
      spending: async () => [],
      ...changes,
    },
  };
}

/** Policies in memory. */
export function fakePolicies(own: readonly Address[] = []): Services["policies"] {
  const rows = new Map<string, StoredPolicy>();
  return {
    of: async (owner) => rows.get(owner) ?? null,
    write: async ({ owner, policy, now, ifVersion }) => {
      const version = rows.get(owner)?.version ?? DEFAULT_VERSION;
      if (ifVersion !== null && !ifVersion.includes(version)) return null;
      const stored = storedPolicy(policy, now);
      rows.set(owner, stored);
      return stored;
    },
    ownWallets: async () => own,
  };
}

/** A policy as the table has it. */
function storedPolicy(policy: RoutingPolicy, updatedAt: Date): StoredPolicy {
  return { policy, version: hashApiKey(JSON.stringify([policy, updatedAt])), updatedAt };
}
