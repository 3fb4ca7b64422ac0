import { hash } from "node:crypto";
import type { Logger } from "pino";
import type {
  AnswerHeaders,
  CallerRequest,
  Charge,
  ChargeTerms,
  KeyCaller,
  PaidRequest,
  RepeatSlot,
} from "./access.ts";
import { chargeHeaders, shortageOf, UNCHARGED } from "./access.ts";
import { type ApiKey, hashApiKey } from "./api-keys.ts";
import type { createKeyDebits } from "./key-debits.ts";
import { Problem, unauthorized } from "./problems.ts";

/** The fields of a stored key that access needs. */
export type KnownKey = Pick<ApiKey, "id" | "balanceUnits" | "ratePerMinute" | "expiresAt" | "revokedAt">;

export type ApiKeyAccessDeps = {
  readonly keys: ReturnType<typeof createKeyDebits> & { find(keyHash: string): Promise<KnownKey | null> };
  readonly clock: { now(): Date };
  readonly logger: Logger;
};

export type KeyAccess = ReturnType<typeof createApiKeyAccess>;

const KEY_FORM = /^ahs_[A-Za-z0-9_-]{43}$/;
const HOW_TO_GET_A_KEY =
  "`POST /keys` sells keys where the service takes payments, and `POST /keys/rotate` renews one that was bought; the operator issues others.";

/** Access by API key. The price is reserved before the work, then captured or released. */
export function createApiKeyAccess(deps: ApiKeyAccessDeps) {
  return {
    /** Returns null if the request carries no key. Throws a 401 for an invalid key and a 400 for two different ones. */
    async identify(request: CallerRequest): Promise<KeyCaller | null> {
      const presented = presentedKey(request);
      if (presented === undefined) return null;
      // A client with an unset key variable must not fall through to another payment method.
      if (presented === "") throw unauthorized("key-missing", `X-API-Key is empty. ${HOW_TO_GET_A_KEY}`);
      const key = KEY_FORM.test(presented) ? await deps.keys.find(hashApiKey(presented)) : null;
      if (key === null) {
        throw unauthorized("key-unknown", `No API key like the one given exists. ${HOW_TO_GET_A_KEY}`);
      }
      const caller = callerOf(key, deps.clock.now());
      request.onKey?.(caller);
      return caller;
    },
    /** Reserves the price, to be captured together with the slot's answer. Returns `shortage` if the balance is too low. */
    async take(
      caller: KeyCaller,
      request: PaidRequest,
      terms: KeyTerms,
    ): Promise<Charge | { readonly shortage: string }> {
      return caller.balanceUnits === null
        ? chargeNothing(deps, terms)
        : chargeKey(deps, { ...terms, caller, request });
    },
  };
}

/**
 * The key in X-API-Key, or in an Authorization header as a bearer token that begins with ahs_; undefined without either. Throws a
 * 400 if the two differ.
 */
export function presentedKey(request: Pick<PaidRequest, "header">): string | undefined {
  const named = request.header("x-api-key");
  const bearer = /^Bearer +(ahs_\S*) *$/i.exec(request.header("authorization") ?? "")?.[1];
  if (named !== undefined && bearer !== undefined && named !== bearer) {
    throw new Problem(
      "header-malformed",
      "X-API-Key and Authorization carry two different API keys. Send one of the headers, or the same key in both.",
    );
  }
  return named ?? bearer;
}

function callerOf(key: KnownKey, now: Date): KeyCaller {
  if (key.revokedAt !== null) {
    throw unauthorized("key-revoked", `This API key was revoked at ${key.revokedAt.toISOString()}.`);
  }
  if (key.expiresAt !== null && key.expiresAt <= now) {
    throw unauthorized("key-expired", `This API key expired at ${key.expiresAt.toISOString()}.`);
  }
  const { id, balanceUnits, ratePerMinute } = key;
  return { kind: "key", keyId: id, balanceUnits, ratePerMinute };
}

type KeyTerms = ChargeTerms & { readonly slot: RepeatSlot | null };

async function chargeNothing(deps: ApiKeyAccessDeps, { slot, accept }: KeyTerms): Promise<Charge> {
  await accept?.({ debitId: null, paymentId: null });
  return chargeOf(deps, null, slot);
}

async function chargeKey(
  deps: ApiKeyAccessDeps,
  {
    caller,
    request: { endpoint, units },
    slot,
    settlement,
    accept,
  }: KeyTerms & { readonly caller: KeyCaller; readonly request: PaidRequest },
): Promise<Charge | { readonly shortage: string }> {
  // Work that is paid for first may have lasting effects; the slot stores only its answer.
  const repeat =
    slot === null || settlement === "after"
      ? {}
      : { repeat: hash("sha256", `${slot.keyHash} ${slot.fingerprint}`, "hex") };
  const held = await deps.keys.hold({ keyId: caller.keyId, endpoint, units, ...repeat });
  switch (held.kind) {
    case "unlimited":
      return chargeNothing(deps, { slot, settlement, ...(accept === undefined ? {} : { accept }) });
    case "insufficient":
      return { shortage: shortageOf({ endpoint, units }, held.balanceUnits) };
    case "held": {
      const { debitId, balanceUnits } = held;
      // A captured debit was charged by the earlier request.
      const charged = chargeHeaders(held.isRepeat ? 0 : units, balanceUnits);
      const charge = keyCharge(deps, { debitId, slot, charged });
      const isSold = await isAccepted(charge, () => accept?.({ debitId, paymentId: null }));
      return isSold ? charge : UNCHARGED;
    }
  }
}

/** Returns false if the purchase was not stored; the price is then released. */
async function isAccepted(charge: Charge, accept: () => Promise<boolean> | undefined): Promise<boolean> {
  try {
    if ((await accept()) !== false) return true;
  } catch (error) {
    await charge.giveBack();
    throw error;
  }
  await charge.giveBack();
  return false;
}

function chargeOf(deps: ApiKeyAccessDeps, debitId: string | null, slot: RepeatSlot | null): Charge {
  return debitId === null && slot === null ? UNCHARGED : keyCharge(deps, { debitId, slot, charged: {} });
}

// If a reservation can be neither captured nor released now, its deadline releases it. The caller never pays for our failure.
function keyCharge(
  { keys, logger }: ApiKeyAccessDeps,
  {
    debitId,
    slot,
    charged,
  }: {
    readonly debitId: string | null;
    readonly slot: RepeatSlot | null;
    /** Headers of a captured charge. */
    readonly charged: AnswerHeaders;
  },
): Charge {
  /** Whether it was done. */
  const orLog = async (doing: Promise<void>, message: string): Promise<boolean> => {
    try {
      await doing;
      return true;
    } catch (error) {
      logger.error({ err: error, debit_id: debitId }, message);
      return false;
    }
  };
  return {
    ...(debitId === null ? {} : { debitId }),
    async keep(answer) {
      const message = "debit not kept; it returns at its deadline";
      if (slot !== null)
        return (await orLog(keys.keepAnswered(debitId, slot, answer), message)) ? charged : {};
      if (debitId === null) return {};
      return (await orLog(keys.keep(debitId), message)) ? charged : {};
    },
    async giveBack() {
      if (debitId === null) return null;
      await orLog(keys.giveBack(debitId), "debit not given back; it returns at its deadline");
      return null;
    },
  };
}
