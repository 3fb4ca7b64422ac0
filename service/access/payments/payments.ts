import { hash } from "node:crypto";
import { and, desc, eq, gt, inArray, isNull, lte, ne, notInArray, or, type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { type Database, underDeadline } from "../../db/database.ts";
import { type PaymentState, payment } from "../../db/tables/payment.ts";
import type { PresentedPayment } from "../access.ts";

export type StoredPayment = typeof payment.$inferSelect;

/** A verified payment and the request that it buys; hashes are hex SHA-256. */
export type Reservation = {
  readonly payment: PresentedPayment;
  readonly endpoint: string;
  readonly resource: string;
  readonly fingerprint: string;
  readonly settlement: "before" | "after";
  readonly claimHash: string;
  readonly idempotencyKeyHash: string | null;
  readonly paymentIdentifierHash: string | null;
};

/** Rows of ahs.payment. Every change is one statement that requires the expected state, else changes nothing. */
export type PaymentStore = {
  find(authorization: Pick<PresentedPayment, "asset" | "payer" | "nonce">): Promise<StoredPayment | null>;
  findByClaim(claimHash: string): Promise<StoredPayment | null>;
  /** The newest payment of a wallet for a request, if it is neither released nor lost and its answer is still stored; else null. */
  findBought(payer: Address, fingerprint: string): Promise<StoredPayment | null>;
  /** The same for any request, by payment identifier. */
  findIdentified(payer: Address, paymentIdentifierHash: string): Promise<StoredPayment | null>;
  /** The same, by Idempotency-Key. */
  findRepeated(
    payer: Address,
    fingerprint: string,
    idempotencyKeyHash: string,
  ): Promise<StoredPayment | null>;
  /**
   * Reserves an authorization for one request and returns the row's id; null if it is taken. A released one can be
   * reserved again. Once its settlement was asked for, only the same request can do so, and its first proofs stay: the
   * money may still move.
   */
  reserve(reservation: Reservation): Promise<string | null>;
  /** Records that settlement is about to be asked for. Returns false if the row no longer belongs to this request. */
  askSettlement(id: string): Promise<boolean>;
  /** Records that the money moved; the request keeps its lease. Returns false if the row has another state by now. */
  settle(id: string, transaction: Hex): Promise<boolean>;
  /** Takes up an owed payment that no request is working on, with a new claim if given. */
  reopen(id: string, claimHash: string | null): Promise<boolean>;
  answer(
    id: string,
    answer: { readonly contentType: string; readonly body: string | Uint8Array },
  ): Promise<boolean>;
  /** Frees a reserved authorization. */
  release(id: string, error: string): Promise<void>;
  /** Ends the request's hold on a reserved or settled row, which others then take up. */
  lapse(id: string): Promise<void>;
};

type PaymentStoreDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly now: () => Date;
  readonly randomUuid: () => string;
};

/** Longer than any request runs; after that the lease is over. */
const REQUEST_MS = 120_000;
/** Settlement is given up after 20 s; a row still reserved after this time is compared with the chain. */
const SETTLEMENT_MS = 25_000;
/** Longer than chains with blocks of seconds need to make a receipt final. */
export const CONFIRM_MS = 60_000;
/** How long an answer is stored for repeats: api.md section 2. */
export const ANSWER_KEPT_MS = 24 * 3_600_000;
/** Seconds after which a released authorization is checked again, if it is valid for longer. */
const RECHECK_SECONDS = 3_600;

/** Its database gives every statement up in time. */
type StoreContext = Omit<PaymentStoreDeps, "db"> & { readonly db: NodePgDatabase };

type PaymentPatch = Omit<Partial<typeof payment.$inferInsert>, "deadline"> & {
  readonly deadline?: Date | SQL;
};

/** The payment store of one chain. */
export function createPaymentStore({ db: pool, ...given }: PaymentStoreDeps): PaymentStore {
  const deps: StoreContext = { ...given, db: underDeadline(pool) };
  const { db, now } = deps;
  const after = (ms: number) => new Date(now().getTime() + ms);
  const change = async (id: string, from: PaymentState, set: PaymentPatch, also?: SQL): Promise<boolean> => {
    const changed = await db
      .update(payment)
      .set({ ...set, updatedAt: now() })
      .where(and(eq(payment.id, id), eq(payment.state, from), also))
      .returning({ id: payment.id });
    return changed.length > 0;
  };
  const freed = (error: string) => ({
    state: "released" as const,
    error,
    // A holder of the signature may still carry it out. The money is then ours, and its payer is owed the work.
    deadline: sql`to_timestamp(least(${payment.validBefore}, ${Math.floor(now().getTime() / 1000) + RECHECK_SECONDS}))`,
  });
  return {
    ...readers(deps),
    reserve: (reservation) => reserve(deps, reservation, after(REQUEST_MS)),
    askSettlement: (id) =>
      change(
        id,
        "reserved",
        { settleAskedAt: now(), deadline: after(SETTLEMENT_MS) },
        gt(payment.deadline, now()),
      ),
    settle: (id, transaction) =>
      change(id, "reserved", {
        state: "settled",
        transactionHash: transaction,
        settledAt: now(),
        confirmAt: after(CONFIRM_MS),
        error: null,
        deadline: after(REQUEST_MS),
      }),
    reopen: (id, claimHash) =>
      change(
        id,
        "settled",
        { deadline: after(REQUEST_MS), ...(claimHash === null ? {} : { claimHash }) },
        lte(payment.deadline, now()),
      ),
    answer: (id, { contentType, body }) =>
      change(id, "settled", {
        state: "answered",
        answerType: contentType,
        answerBody: Buffer.from(body),
        answeredAt: now(),
      }),
    async release(id, error) {
      await change(id, "reserved", freed(error));
    },
    async lapse(id) {
      await db
        .update(payment)
        .set({ deadline: now(), updatedAt: now() })
        .where(and(eq(payment.id, id), inArray(payment.state, ["reserved", "settled"])));
    },
  };
}

function readers({
  db,
  chainId,
  now,
}: StoreContext): Pick<
  PaymentStore,
  "find" | "findByClaim" | "findBought" | "findIdentified" | "findRepeated"
> {
  const first = async (condition: SQL | undefined): Promise<StoredPayment | null> => {
    const [row] = await db.select().from(payment).where(condition).orderBy(desc(payment.createdAt)).limit(1);
    return row ?? null;
  };
  const here = eq(payment.chainId, chainId);
  const paidBy = (payer: Address): SQL | undefined =>
    and(
      here,
      eq(payment.payer, payer),
      notInArray(payment.state, ["released", "lost"]),
      or(isNull(payment.answeredAt), gt(payment.answeredAt, new Date(now().getTime() - ANSWER_KEPT_MS))),
    );
  const bought = (payer: Address, fingerprint: string): SQL | undefined =>
    and(paidBy(payer), eq(payment.fingerprint, fingerprint));
  return {
    find: ({ asset, payer, nonce }) =>
      first(and(here, eq(payment.asset, asset), eq(payment.payer, payer), eq(payment.nonce, nonce))),
    findByClaim: (claimHash) =>
      first(and(here, eq(payment.claimHash, claimHash), ne(payment.state, "released"))),
    findIdentified: (payer, paymentIdentifierHash) =>
      first(and(paidBy(payer), eq(payment.paymentIdentifierHash, paymentIdentifierHash))),
    findRepeated: (payer, fingerprint, idempotencyKeyHash) =>
      first(and(bought(payer, fingerprint), eq(payment.idempotencyKeyHash, idempotencyKeyHash))),
    findBought: (payer, fingerprint) => first(bought(payer, fingerprint)),
  };
}

async function reserve(
  { db, chainId, now, randomUuid }: StoreContext,
  { payment: presented, ...request }: Reservation,
  deadline: Date,
): Promise<string | null> {
  const { asset, payer, payTo, nonce, amount, validAfter, validBefore, payload } = presented;
  const held = {
    ...request,
    // A fresh id, so that late writes of an earlier request find no row.
    id: randomUuid(),
    chainId,
    asset,
    payer,
    payTo,
    nonce,
    amount,
    validAfter: Number(validAfter),
    validBefore: Number(validBefore),
    payload,
    state: "reserved" as const,
    deadline,
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
      target: [payment.chainId, payment.asset, payment.payer, payment.nonce],
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
  asset,
  payer,
  nonce,
}: {
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  readonly payer: string;
  readonly nonce: string;
}): string {
  const name = `credit ${network} ${asset} ${payer} ${nonce}`.toLowerCase();
  const digits = hash("sha256", name, "hex").slice(0, 32);
  const variant = ((Number.parseInt(digits.slice(16, 17), 16) % 4) + 8).toString(16);
  const text = `${digits.slice(0, 12)}8${digits.slice(13, 16)}${variant}${digits.slice(17)}`;
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
