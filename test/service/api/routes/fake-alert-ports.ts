import type { OwnerAccess } from "../../../../service/access/access.ts";
import { type ApiKeyAccessDeps, presentedKey } from "../../../../service/access/api-key-access.ts";
import { hashApiKey } from "../../../../service/access/api-keys.ts";
import { Problem } from "../../../../service/access/problems.ts";
import type { StoredSubscription } from "../../../../service/alerts/alert-subscriptions.ts";
import { hashManageToken, type SubscribeRequest } from "../../../../service/alerts/subscriptions.ts";

import type { Services } from "../../../../service/api/services.ts";
import { memoryGate } from "../../access/memory-gate.ts";

export const MANAGE_TOKEN = `amt_${"t".repeat(43)}`;
export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
export const SUBSCRIPTION_ID = "0b0f7b8e-6a0e-4a43-9f0a-0d5c2d3f7f11";
export const DELIVERY_ID = `msg_${"5f".repeat(16)}`;

const NOW = new Date("2026-11-20T10:00:00.000Z");

/** A subscription of the fake key that runs for 30 days and was answered. */
export function storedSubscription(changes: Partial<StoredSubscription> = {}): StoredSubscription {
  return {
    id: SUBSCRIPTION_ID,
    chainId: 31_337,
    wallet: "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc",
    owner: "key:key-1",
    endpointId: "11111111-1111-4111-8111-111111111111",
    url: "https://hooks.example.com/agent-health",
    events: ["ahs.grade_changed", "ahs.sanctions_hit"],
    thresholds: {},
    watched: { ahsScore: 78, d1Score: 81, d2Score: 77, confidenceMicros: 810_000 },
    manageTokenHash: hashManageToken(MANAGE_TOKEN),
    purchases: [],
    createdAt: NOW,
    expiresAt: new Date(NOW.getTime() + 30 * 86_400_000),
    endedAt: null,
    verifiedAt: NOW,
    disabledAt: null,
    disabledReason: null,
    ...changes,
  };
}

/** Ports that sell one subscription and manage it; `bought` holds what was asked for. */
export function fakeAlertPorts(
  ledger: ApiKeyAccessDeps["keys"],
  bought: SubscribeRequest[] = [],
): Pick<Services, "owners" | "repeats" | "subscribe" | "hasThresholds" | "subscriptions"> {
  return {
    owners: fakeOwners(ledger),
    subscribe: async (request) => {
      bought.push(request);
      const { wallet, owner, webhookUrl: url, events, thresholds } = request;
      const chosen = {
        ...(events === null ? {} : { events }),
        ...(thresholds === null ? {} : { thresholds }),
      };
      const asked = { wallet, owner, url, verifiedAt: null, ...chosen };
      return { subscription: storedSubscription(asked), secret: SECRET, manageToken: MANAGE_TOKEN };
    },
    hasThresholds: async () => false,
    repeats: memoryGate().repeats,
    subscriptions: {
      count: async () => undefined,
      find: async (id) => (id === SUBSCRIPTION_ID ? storedSubscription() : null),
      list: async () => [storedSubscription()],
      end: async () => undefined,
      test: async () => ({ id: DELIVERY_ID, outcome: "queued" }),
      rotate: async (_subscription, tokens) => ({
        secret: SECRET,
        previousValidUntil: new Date(NOW.getTime() + 86_400_000),
        olderSecretEnded: false,
        manageToken: tokens === "new-token" ? MANAGE_TOKEN : null,
      }),
      deliveries: async () => [],
      replay: async (_subscription, id) => (id === DELIVERY_ID ? "queued" : "unknown"),
    },
  };
}

/** Owners by the keys of a ledger alone. */
function fakeOwners(ledger: ApiKeyAccessDeps["keys"]): OwnerAccess {
  return {
    async identify(request) {
      const secret = presentedKey(request);
      if (secret === undefined) throw new Problem("identity-missing", "Send an API key.");
      const key = await ledger.find(hashApiKey(secret));
      if (key === null) throw new Problem("key-unknown", "No such key.");
      return { kind: "key", keyId: key.id };
    },
  };
}
