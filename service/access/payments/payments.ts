import { hash } from "node:crypto";
import type { PaymentPayload } from "@x402/core/types";
import { and, desc, eq, gt, inArray, isNull, lte, ne, notInArray, or, type SQL, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { Address, Hex } from "viem";
import { type Database, underDeadline } from "../../db/database.ts";
import { FIRST_SCHEME, type PaymentState, payment } from "../../db/tables/payment.ts";
import type { AuthorizationId } from "../../sender/payments-sender.ts";
import type { BoughtAnswer, PresentedPayment } from "../access.ts";
import type { PaymentScheme } from "../schemes/scheme.ts";

export type StoredPayment = typeof payment.$inferSelect;

/** Longer than a request works before its settlement, or after it; then its lease is over. */
export const REQUEST_MS = 60_000;
/** Settlement is given up after 20 s; a row still reserved after this time is compared with the chain. */
const SETTLEMENT_MS = 25_000;
/** Longer than chains with blocks of seconds need to make a receipt final. */
export const CONFIRM_MS = 60_000;
/** How long an answer is stored for repeats. */
export const ANSWER_STORED_MS = 24 * 3_600_000;
/** Seconds after which a released authorization is checked again, if it is valid for longer. */
const RECHECK_SECONDS = 3_600;

export type PaymentStore = ReturnType<typeof createPaymentStore>;

type StoreDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly now: () => Date;
  readonly randomUuid: () => string;
};

/** Rows of ahs.payment of one chain. Every change is one statement that requires the expected state, else changes nothing. */
export function createPaymentStore({ db, ...deps }: StoreDeps) {
  const context = { ...deps, db: underDeadline(db) };
  return {
    ...finders(context),
    reserve: (reservation: Reservation) => reserve(context, reservation),
    ...steps(context),
  };
}

type Context = Omit<StoreDeps, "db"> & { readonly db: ReturnType<typeof underDeadline> };

/** Each returns the newest row that fits; null without one. */
function finders({ db, chainId, now }: Context) {
  const here = eq(payment.chainId, chainId);

  async function first(condition: SQL | undefined): Promise<StoredPayment | null> {
    const [row] = await db.select().from(payment).where(condition).orderBy(desc(payment.createdAt)).limit(1);
    return row ?? null;
  }

  /** The newest payment of a wallet that is neither released nor lost and whose answer is still stored. */
  function newestBy(payer: Address, ...also: readonly SQL[]): Promise<StoredPayment | null> {
    const isUsed = notInArray(payment.state, ["released", "lost"]);
    const oldest = new Date(now().getTime() - ANSWER_STORED_MS);
    const isStored = or(isNull(payment.answeredAt), gt(payment.answeredAt, oldest));
    return first(and(here, eq(payment.payer, payer), isUsed, isStored, ...also));
  }

  return {
    find: ({ scheme, asset, payer, nonce }: AuthorizationId) =>
      first(
        and(
          here,
          eq(payment.scheme, scheme),
          eq(payment.asset, asset),
          eq(payment.payer, payer),
          eq(payment.nonce, nonce),
        ),
      ),
    findByClaim: (claimHash: string) =>
      first(and(here, eq(payment.claimHash, claimHash), ne(payment.state, "released"))),
    /** The newest payment of a wallet for a request. */
    findBought: (payer: Address, fingerprint: string) =>
      newestBy(payer, eq(payment.fingerprint, fingerprint)),
    /** The same for any request, by payment identifier. */
    findIdentified: (payer: Address, paymentIdentifierHash: string) =>
      newestBy(payer, eq(payment.paymentIdentifierHash, paymentIdentifierHash)),
    /** The payment of a wallet for a request whose answer it is owed. */
    findOwed: (payer: Address, fingerprint: string) =>
      first(and(here, eq(payment.payer, payer), eq(payment.fingerprint, fingerprint), owedAt(now()))),
    /** The same, by Idempotency-Key. */
    findRepeated: (payer: Address, fingerprint: string, idempotencyKeyHash: string) =>
      newestBy(
        payer,
        eq(payment.fingerprint, fingerprint),
        eq(payment.idempotencyKeyHash, idempotencyKeyHash),
      ),
  };
}

type Reservation = { readonly payment: PresentedPayment } & Pick<
  StoredPayment,
  | "endpoint"
  | "resource"
  | "fingerprint"
  | "settlement"
  | "claimHash"
  | "idempotencyKeyHash"
  | "paymentIdentifierHash"
>;

/**
 * Reserves a verified payment for one request and returns the row's id; null if it is taken. A released one can be reserved
 * again. Once its settlement was asked for, only the same request can do so, and its first proofs stay: the money may still
 * move. Hashes are hex SHA-256.
 */
async function reserve(
  { db, chainId, now, randomUuid }: Context,
  {
    payment: { scheme, asset, payer, payTo, nonce, amount, validAfter, validBefore, payload },
    ...request
  }: Reservation,
): Promise<string | null> {
  const held = {
    ...request,
    // A fresh id, so that late writes of an earlier request find no row.
    id: randomUuid(),
    chainId,
    scheme,
    asset,
    payer,
    payTo,
    nonce,
    amount,
    payload,
    validAfter: Number(validAfter),
    validBefore: Number(validBefore),
    state: "reserved" as const,
    deadline: new Date(now().getTime() + REQUEST_MS),
    settleAskedAt: null,
    transactionHash: null,
    settledAt: null,
    confirmAt: null,
    error: null,
    createdAt: now(),
    updatedAt: now(),
  };
  const rows = await db
    .insert(payment)
    .values(held)
    .onConflictDoUpdate({
      target: [payment.chainId, payment.asset, payment.payer, payment.nonce, payment.scheme],
      set: {
        ...held,
        settleAskedAt: sql`${payment.settleAskedAt}`,
        idempotencyKeyHash: firstProof(payment.idempotencyKeyHash, "idempotency_key_hash"),
        paymentIdentifierHash: firstProof(payment.paymentIdentifierHash, "payment_identifier_hash"),
      },
      setWhere: sql`${payment.state} = 'released' and (${payment.settleAskedAt} is null or ${payment.fingerprint} = ${request.fingerprint})`,
    })
    .returning({ id: payment.id });
  return rows[0]?.id ?? null;
}

/** Changes of a row after its reservation; those that return a boolean return false if the row has another state by now. */
function steps({ db, now }: Context) {
  const after = (ms: number) => new Date(now().getTime() + ms);

  async function change(
    id: string,
    from: PaymentState,
    set: PgUpdateSetSource<typeof payment>,
    also?: SQL,
  ): Promise<boolean> {
    const changed = await db
      .update(payment)
      .set({ ...set, updatedAt: now() })
      .where(and(eq(payment.id, id), eq(payment.state, from), also))
      .returning({ id: payment.id });
    return changed.length > 0;
  }

  return {
    /**
     * Records that settlement of an amount is about to be asked for. Returns the amount that may be asked for: that of the first
     * time, since an earlier order may still be carried out. Null if the row no longer belongs to this request.
     */
    async askSettlement(id: string, amount: bigint): Promise<bigint | null> {
      const [asked] = await db
        .update(payment)
        .set({
          settleAskedAt: now(),
          deadline: after(SETTLEMENT_MS),
          chargedAmount: sql`coalesce(${payment.chargedAmount}, ${amount.toString()}::numeric)`,
          updatedAt: now(),
        })
        .where(and(eq(payment.id, id), eq(payment.state, "reserved"), gt(payment.deadline, now())))
        .returning({ amount: payment.chargedAmount });
      return asked?.amount ?? null;
    },
    /** Records that the money moved, to an escrow if one holds it; the request keeps its lease. */
    settle: (id: string, transaction: Hex, taking?: PresentedPayment["taking"]) =>
      change(id, "reserved", {
        ...settledBy(transaction, { taking, now: now() }),
        confirmAt: after(CONFIRM_MS),
        error: null,
        deadline: after(REQUEST_MS),
      }),
    /** Takes up an owed payment that no request is working on, with a new claim if given. */
    reopen: (id: string, claimHash: string | null) =>
      change(
        id,
        "settled",
        { deadline: after(REQUEST_MS), ...(claimHash === null ? {} : { claimHash }) },
        and(lte(payment.deadline, now()), sql`${payment.captureState} is distinct from 'voiding'`),
      ),
    answer: (id: string, { contentType, body }: BoughtAnswer) =>
      change(id, "settled", {
        state: "answered",
        answerType: contentType,
        answerBody: Buffer.from(body),
        answeredAt: now(),
      }),
    /** Frees a reserved authorization. A holder of the signature may still carry it out: the money is then ours, and the work is owed. */
    release: (id: string, error: string) => change(id, "reserved", { ...released(now()), error }),
    /** Frees a payment whose money only a charge of this store moves: it pays for any other request. */
    releaseUnasked: (id: string, error: string) =>
      change(id, "reserved", { ...released(now()), error, settleAskedAt: null, chargedAmount: null }),
    /** Ends the request's hold on a reserved or settled row, which others then take up. */
    async lapse(id: string): Promise<void> {
      await db
        .update(payment)
        .set({ deadline: now(), updatedAt: now() })
        .where(and(eq(payment.id, id), inArray(payment.state, ["reserved", "settled"])));
    },
  };
}

function released(now: Date) {
  const recheck = Math.floor(now.getTime() / 1000) + RECHECK_SECONDS;
  return {
    state: "released" as const,
    deadline: sql`to_timestamp(least(${payment.validBefore}, ${recheck}))`,
  };
}

/** Members of a row whose money has moved; where an escrow holds it, it is looked after at once. */
export function settledBy(
  transactionHash: Hex,
  { taking, now }: { readonly taking?: PresentedPayment["taking"]; readonly now: Date },
) {
  const isHeld = taking === "held";
  return {
    state: "settled" as const,
    transactionHash,
    captureState: isHeld ? ("authorized" as const) : null,
    captureAt: isHeld ? now : null,
    settledAt: now,
  };
}

/** The payment of a row as it was presented, with the amount that is taken of it. */
export function presentedOf(
  row: StoredPayment,
  schemes: readonly Pick<PaymentScheme, "name" | "taking">[] = [],
): PresentedPayment {
  // It was checked before it was stored.
  const payload = row.payload as PaymentPayload;
  const { scheme, payer, asset, payTo, nonce, amount, chargedAmount } = row;
  const payment: PresentedPayment = {
    scheme,
    payer,
    asset,
    payTo,
    nonce,
    amount,
    payload,
    taking: schemes.find(({ name }) => name === scheme)?.taking,
    validAfter: BigInt(row.validAfter),
    validBefore: BigInt(row.validBefore),
    requirements: payload.accepted,
  };
  return chargedAmount === null ? payment : chargedAs(payment, chargedAmount);
}

/** The payment with the amount that is taken of it. */
export function chargedAs(payment: PresentedPayment, amount: bigint): PresentedPayment {
  return { ...payment, requirements: { ...payment.requirements, amount: amount.toString() } };
}

/** Whether a row's money has moved to stay, its answer is not delivered, and no request works on it. */
export function isOwed({ state, deadline, captureState }: StoredPayment, now: Date): boolean {
  return state === "settled" && deadline <= now && captureState !== "voiding" && captureState !== "voided";
}

/** The rows of which that is true. */
export function owedAt(now: Date): SQL {
  return sql`(${payment.state} = 'settled' and ${payment.deadline} <= ${now.toISOString()}::timestamptz
    and coalesce(${payment.captureState}, '') not in ('voiding', 'voided'))`;
}

/** Proofs of the request that asked for settlement stay; otherwise the new request's proofs replace them. */
function firstProof(
  column: typeof payment.idempotencyKeyHash | typeof payment.paymentIdentifierHash,
  name: string,
) {
  const brought = sql.raw(`excluded.${name}`);
  return sql`case when ${payment.settleAskedAt} is null then ${brought} else coalesce(${column}, ${brought}) end`;
}

/** A UUID (RFC 9562, version 8) derived from the payment, so that it credits once. */
export function creditIdOf({
  network,
  scheme,
  asset,
  payer,
  nonce,
}: AuthorizationId & {
  /** CAIP-2. */
  readonly network: string;
}): string {
  const suffix = scheme === FIRST_SCHEME ? "" : ` ${scheme}`;
  const name = `credit ${network} ${asset} ${payer} ${nonce}${suffix}`.toLowerCase();
  const digits = hash("sha256", name, "hex").slice(0, 32);
  const variant = ((Number.parseInt(digits.slice(16, 17), 16) % 4) + 8).toString(16);
  const text = `${digits.slice(0, 12)}8${digits.slice(13, 16)}${variant}${digits.slice(17)}`;
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
