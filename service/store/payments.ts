import { and, desc, eq, gt, inArray, lte, ne, type SQL, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import type { PresentedPayment } from "../payments/presented-payment.ts";
import type { Database } from "./database.ts";
import { type PaymentState, payment } from "./tables/payment.ts";

export type StoredPayment = typeof payment.$inferSelect;

/** A payment as the request presents it that wants to be served for it; hashes are SHA-256 in hexadecimal. */
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

/** Rows of ahs.payment; every change is one statement that finds the row in the state it expects, or changes nothing. */
export type PaymentStore = {
  find(authorization: Pick<PresentedPayment, "asset" | "payer" | "nonce">): Promise<StoredPayment | null>;
  findByClaim(claimHash: string): Promise<StoredPayment | null>;
  /** The newest payment of a wallet for a request that is not released; null without one. */
  findBought(payer: Address, fingerprint: string): Promise<StoredPayment | null>;
  /** The newest payment of a wallet for a request under an Idempotency-Key that is not released; null without one. */
  findRepeated(
    payer: Address,
    fingerprint: string,
    idempotencyKeyHash: string,
  ): Promise<StoredPayment | null>;
  /** Holds an authorization that is new or was released for one request, and returns the row's id; null when it is taken. */
  reserve(reservation: Reservation): Promise<string | null>;
  /** Notes that settlement is about to be asked for; false when the row is no longer this request's. */
  askSettlement(id: string): Promise<boolean>;
  /** The money moved; the request goes on until the lease ends. False when the row says otherwise by now. */
  settle(id: string, transaction: Hex): Promise<boolean>;
  /** Takes up a settled payment that nobody is working on and that has no answer, under a fresh claim where one is given. */
  reopen(id: string, claimHash: string | null): Promise<boolean>;
  answer(
    id: string,
    answer: { readonly contentType: string; readonly body: string | Uint8Array },
  ): Promise<boolean>;
  /** Frees a reserved authorization. */
  release(id: string, error: string): Promise<void>;
  /** The same, and nothing that its request brought proves anything later: the money was already gone when it came. */
  disown(id: string, error: string): Promise<void>;
  /** Ends the request's hold on a reserved or settled row, which others then take up. */
  lapse(id: string): Promise<void>;
};

export type PaymentStoreDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly now: () => Date;
  readonly randomUuid: () => string;
};

/** Longer than any request runs; after that a row belongs to nobody. */
const REQUEST_MS = 120_000;
/** Settlement is given up after 20 s; a row still reserved after that is compared with the chain. */
const SETTLEMENT_MS = 25_000;
/** How long an answer can be asked for again: api.md section 2. */
export const ANSWER_KEPT_MS = 24 * 3_600_000;
/** What no hash equals. */
const NO_HASH = "";
/** Seconds after which a released authorization is looked at again where it is valid for longer. */
const RECHECK_SECONDS = 3_600;

type PaymentPatch = Omit<Partial<typeof payment.$inferInsert>, "deadline"> & {
  readonly deadline?: Date | SQL;
};

/** Payments on one chain. */
export function createPaymentStore(deps: PaymentStoreDeps): PaymentStore {
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
    settleAskedAt: null,
    error,
    // Whoever knows it may still carry it out: then the money is ours, and somebody's to be served for.
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
    async disown(id, error) {
      const forgotten = { claimHash: NO_HASH, idempotencyKeyHash: null, paymentIdentifierHash: null };
      await change(id, "reserved", { ...freed(error), ...forgotten });
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
}: PaymentStoreDeps): Pick<PaymentStore, "find" | "findByClaim" | "findBought" | "findRepeated"> {
  const first = async (condition: SQL | undefined): Promise<StoredPayment | null> => {
    const [row] = await db.select().from(payment).where(condition).orderBy(desc(payment.createdAt)).limit(1);
    return row ?? null;
  };
  const here = eq(payment.chainId, chainId);
  return {
    find: ({ asset, payer, nonce }) =>
      first(and(here, eq(payment.asset, asset), eq(payment.payer, payer), eq(payment.nonce, nonce))),
    findByClaim: (claimHash) =>
      first(and(here, eq(payment.claimHash, claimHash), ne(payment.state, "released"))),
    findRepeated: (payer, fingerprint, idempotencyKeyHash) =>
      first(
        and(
          here,
          eq(payment.payer, payer),
          eq(payment.fingerprint, fingerprint),
          eq(payment.idempotencyKeyHash, idempotencyKeyHash),
          ne(payment.state, "released"),
        ),
      ),
    findBought: (payer, fingerprint) =>
      first(
        and(
          here,
          eq(payment.payer, payer),
          eq(payment.fingerprint, fingerprint),
          ne(payment.state, "released"),
        ),
      ),
  };
}

async function reserve(
  { db, chainId, now, randomUuid }: PaymentStoreDeps,
  { payment: presented, ...request }: Reservation,
  deadline: Date,
): Promise<string | null> {
  const { asset, payer, payTo, nonce, amount, validAfter, validBefore, payload } = presented;
  const held = {
    ...request,
    // A fresh id, so that what an earlier request still wants to do to the row finds nothing.
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
    error: null,
    createdAt: now(),
    updatedAt: now(),
  };
  const rows = await db
    .insert(payment)
    .values(held)
    .onConflictDoUpdate({
      target: [payment.chainId, payment.asset, payment.payer, payment.nonce],
      set: held,
      setWhere: eq(payment.state, "released"),
    })
    .returning({ id: payment.id });
  return rows[0]?.id ?? null;
}
