import type { Logger } from "pino";
import { hashApiKey } from "../../store/api-keys.ts";
import { Problem, unauthorized } from "../problems.ts";
import type { Access, Caller, Charge, Purchase } from "./access.ts";

/** What access has to know of a stored key. */
export type KnownKey = {
  readonly id: string;
  /** Thousandths of a US dollar; null is unlimited. */
  readonly balanceUnits: number | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
};

type HoldResult =
  | { readonly kind: "held"; readonly debitId: string }
  | { readonly kind: "unlimited" }
  | { readonly kind: "insufficient"; readonly balanceUnits: number };

/** The part of the key store that requests use. */
export type KeyLedger = {
  find(keyHash: string): Promise<KnownKey | null>;
  hold(request: {
    readonly keyId: string;
    readonly units: number;
    readonly endpoint: string;
  }): Promise<HoldResult>;
  keep(debitId: string): Promise<void>;
  giveBack(debitId: string): Promise<void>;
};

export type ApiKeyAccessDeps = {
  readonly keys: KeyLedger;
  readonly clock: { now(): Date };
  readonly logger: Logger;
};

const KEY_FORM = /^ahs_[A-Za-z0-9_-]{43}$/;
const HOW_TO_GET_A_KEY = "The operator issues keys with `ahs keys create --name NAME`.";

/** Access by the X-API-Key header: the price is held before the work and kept or given back after it. */
export function createApiKeyAccess(deps: ApiKeyAccessDeps): Access {
  return {
    async identify(request) {
      const presented = request.header("x-api-key");
      if (presented === undefined || presented === "") {
        throw unauthorized("key-missing", `Send an API key in the X-API-Key header. ${HOW_TO_GET_A_KEY}`);
      }
      const key = KEY_FORM.test(presented) ? await deps.keys.find(hashApiKey(presented)) : null;
      if (key === null) {
        throw unauthorized("key-unknown", `No API key like the one given exists. ${HOW_TO_GET_A_KEY}`);
      }
      return callerOf(key, deps.clock.now());
    },
    async take(caller, purchase) {
      return caller.unlimited ? FREE_OF_CHARGE : chargeKey(deps, caller, purchase);
    },
  };
}

function callerOf(key: KnownKey, now: Date): Caller {
  if (key.revokedAt !== null) {
    throw unauthorized("key-revoked", `This API key was revoked at ${key.revokedAt.toISOString()}.`);
  }
  if (key.expiresAt !== null && key.expiresAt <= now) {
    throw unauthorized("key-expired", `This API key expired at ${key.expiresAt.toISOString()}.`);
  }
  return { kind: "key", keyId: key.id, unlimited: key.balanceUnits === null };
}

const FREE_OF_CHARGE: Charge = {
  async keep(answer) {
    return answer;
  },
  async giveBack() {},
};

async function chargeKey(deps: ApiKeyAccessDeps, caller: Caller, purchase: Purchase): Promise<Charge> {
  const held = await deps.keys.hold({ keyId: caller.keyId, ...purchase });
  switch (held.kind) {
    case "unlimited":
      return FREE_OF_CHARGE;
    case "insufficient":
      throw new Problem(
        "balance-insufficient",
        `${purchase.endpoint} costs ${usd(purchase.units)} USD and the balance of this key is ${usd(held.balanceUnits)} USD.`,
      );
    case "held":
      return heldCharge(deps, held.debitId);
  }
}

// A hold that can be neither kept nor returned now is returned by its deadline: the caller never pays for our fault.
function heldCharge({ keys, logger }: ApiKeyAccessDeps, debitId: string): Charge {
  return {
    async keep(answer) {
      await keys.keep(debitId).catch((error: unknown) => {
        logger.error({ err: error, debit_id: debitId }, "debit not kept; it returns at its deadline");
      });
      return answer;
    },
    async giveBack() {
      await keys.giveBack(debitId).catch((error: unknown) => {
        logger.error({ err: error, debit_id: debitId }, "debit not given back; it returns at its deadline");
      });
    },
  };
}

function usd(units: number): string {
  return (units / 1000).toFixed(3);
}
