import { randomBytes } from "node:crypto";
import type { Address } from "viem";
import {
  buyApiKey,
  DEFAULT_RATE_PER_MINUTE,
  keysBoughtBy,
  readApiKey,
  readSpending,
  rotateApiKey,
  topUpApiKey,
} from "../../service/access/api-keys.ts";
import type { AccessParts } from "../../service/access/create-access.ts";
import { countedKeys } from "../../service/access/rate-limits.ts";
import { createOwnerAccess, type SignIn, type SignInAudience } from "../../service/access/sign-in.ts";

import type { PolicyPorts } from "../../service/api/routes/get-ahs-route-policy.ts";
import type { SubscriptionPorts } from "../../service/api/schemas/alert-subscription.ts";
import type { KeyPorts } from "../../service/api/schemas/key-sale.ts";
import type { Database } from "../../service/db/database.ts";
import { createPolicyReader, writePolicy } from "../../service/scores/routing-policies.ts";

/** As many as an error can name. */
const MAX_NAMED_KEYS = 20;

type Deps = {
  readonly db: Database;
  readonly keyAccess: AccessParts["keys"];
  readonly gate: Pick<AccessParts, "limiter" | "repeats" | "payerRatePerMinute">;
  readonly signIn: SignIn;
  readonly audience: SignInAudience;
};

/** What sells keys, and what reads and writes policies for whoever proves to be their owner. */
export function keyPorts({
  db,
  keyAccess,
  gate,
  signIn,
  audience,
}: Deps): KeyPorts & PolicyPorts & Pick<SubscriptionPorts, "repeats"> {
  const entropy = { randomBytes };
  return {
    owners: createOwnerAccess({ ...gate, keys: keyAccess, signIn, audience }),
    repeats: gate.repeats,
    keys: {
      identify: keyAccess.identify,
      enter: countedKeys(keyAccess, gate.limiter).identify,
      buy: (purchase) => buyApiKey(db, { ...purchase, ratePerMinute: DEFAULT_RATE_PER_MINUTE }, entropy),
      topUp: (topUp) => topUpApiKey(db, topUp),
      rotate: (right, now) => rotateApiKey(db, { right, now }, entropy),
      find: (id) => readApiKey(db, id),
      boughtBy: (wallet, now) => keysBoughtBy(db, { wallet, now, limit: MAX_NAMED_KEYS }),
      spending: (keyId, since) => readSpending(db, keyId, since),
    },
    policies: {
      of: createPolicyReader(db),
      write: (write) => writePolicy(db, write),
      async ownWallets(owner): Promise<readonly Address[]> {
        if (owner.kind === "wallet") return [owner.address];
        const key = await readApiKey(db, owner.keyId);
        return key === null || key.boughtBy === null ? [] : [key.boughtBy];
      },
    },
  };
}
