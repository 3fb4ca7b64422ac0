import { hash } from "node:crypto";
import { extractPaymentIdentifier } from "@x402/extensions/payment-identifier";
import { and, desc, eq, gt, isNull, lte, or, sql } from "drizzle-orm";
import type { Logger } from "pino";
import { isOneOf } from "../db/columns.ts";
import { type Database, rowsInTime, underDeadline } from "../db/database.ts";
import { apiKey } from "../db/tables/api-key.ts";
import { idempotentAnswer } from "../db/tables/payment.ts";
import {
  type BoughtAnswer,
  type Caller,
  ownerOf,
  ownerText,
  type PaidRequest,
  type RepeatSlot,
} from "./access.ts";
import {
  beginAnswer,
  forgetAnswer,
  keepAnswer,
  readAnswer,
  type StoredAnswer,
} from "./idempotent-answers.sql.ts";
import { Problem } from "./problems.ts";

const MAX_CHARACTERS = 255;
/** A structured-field string (RFC 9651): printable ASCII in quotes, with backslashes before quotes and backslashes. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
/** The unquoted form that many clients send: one word. */
const BARE = /^[!#-+\--~]+$/;

/**
 * Reads the Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07): a structured string of 1 to 255 characters,
 * with or without quotes. Null without the header. Throws a 400 for anything else.
 */
export function idempotencyKeyOf(request: Pick<PaidRequest, "header">): string | null {
  const given = request.header("idempotency-key");
  if (given === undefined) return null;
  const key = QUOTED.exec(given)?.[1]?.replaceAll(/\\(.)/g, "$1") ?? (BARE.test(given) ? given : "");
  if (key.length >= 1 && key.length <= MAX_CHARACTERS) return key;
  throw new Problem(
    "header-malformed",
    `Idempotency-Key has to be one string of 1 to ${MAX_CHARACTERS} printable ASCII characters, in quotes or, without spaces and commas, bare.`,
  );
}

const IDENTIFIER_SCOPE = "payment-identifier:";

/**
 * The slots that store the answer for repeats: by Idempotency-Key and, for a payer, by payment identifier. Empty for a
 * caller without proof. Throws a 400.
 */
export function repeatSlotsOf(caller: Caller, request: PaidRequest): readonly RepeatSlot[] {
  const slots = [repeatSlotOf(caller, request)];
  const identifier = caller.kind === "payer" ? extractPaymentIdentifier(caller.payment.payload) : null;
  if (caller.kind === "payer" && identifier !== null) {
    slots.push({
      scope: `${IDENTIFIER_SCOPE}${caller.address}`,
      keyHash: hash("sha256", identifier, "hex"),
      fingerprint: request.fingerprint(),
    });
  }
  return slots.filter((slot) => slot !== null);
}

/** True if a payment identifier names the slot, false if an Idempotency-Key does. */
function isIdentifierSlot({ scope }: RepeatSlot): boolean {
  return scope.startsWith(IDENTIFIER_SCOPE);
}

/** The slot of the Idempotency-Key; null without a key or for a caller without proof. Throws a 400. */
export function repeatSlotOf(caller: Caller, request: PaidRequest): RepeatSlot | null {
  const owner = ownerOf(caller);
  // Parsed for every caller, so that each gets the 400 of a malformed key.
  const slot = slotOf(owner === null ? "" : ownerText(owner), request);
  return owner === null ? null : slot;
}

/** The slot of a known scope; null without a key. Throws a 400. */
export function slotOf(
  scope: string,
  request: Pick<PaidRequest, "header" | "fingerprint">,
): RepeatSlot | null {
  const key = idempotencyKeyOf(request);
  if (key === null) return null;
  return { scope, keyHash: hash("sha256", key, "hex"), fingerprint: request.fingerprint() };
}

export type RepeatStore = ReturnType<typeof createRepeatStore>;

const RETRY_AFTER_SECONDS = 2;

/** Answers for repeats, by Idempotency-Key or payment identifier. */
export function createRepeatStore(answers: IdempotentAnswers, logger: Logger) {
  return {
    /** Null for the first request of a slot, which is under way from then on; throws the 409 and 422 of the draft. */
    async begin(slot: RepeatSlot): Promise<BoughtAnswer | null> {
      const beginning = await answers.begin(slot);
      switch (beginning.kind) {
        case "begun":
          return null;
        case "answered":
          return beginning.answer;
        case "running":
          throw new Problem(
            "request-in-flight",
            `The first request with this ${nameOf(slot)} is not answered yet. Ask again for its answer.`,
            { headers: { "retry-after": String(RETRY_AFTER_SECONDS) } },
          );
        case "other-request":
          throw reused(slot);
      }
    },
    /** Stores what a payment bought. Never throws: the money has moved. */
    async keep(slot: RepeatSlot, answer: BoughtAnswer): Promise<void> {
      await answers.keep(slot, answer).catch((error: unknown) => {
        logger.error({ err: error, scope: slot.scope }, "answer not kept for its Idempotency-Key");
      });
    },
    /** Never throws. */
    async forget(slot: RepeatSlot): Promise<void> {
      await answers.forget(slot).catch((error: unknown) => {
        logger.error({ err: error, scope: slot.scope }, "request not forgotten; it is at its deadline");
      });
    },
  };
}

function reused(slot: RepeatSlot): Problem {
  if (isIdentifierSlot(slot)) return identifierReused();
  return new Problem(
    "idempotency-key-reused",
    "This Idempotency-Key came with another request within the last 24 hours. Send each request with a key of its own.",
  );
}

/** The 409 of the x402 extension: one identifier of a payer names one request. */
export function identifierReused(): Problem {
  return new Problem(
    "payment-identifier-reused",
    "This payment identifier came with another request within the last 24 hours. Send each request with one of its own.",
  );
}

function nameOf(slot: RepeatSlot): string {
  return isIdentifierSlot(slot) ? "payment identifier" : "Idempotency-Key";
}

export type IdempotentAnswers = ReturnType<typeof createIdempotentAnswers>;

/** Seconds after which a request counts as dead: as long as its debit is held at most. */
const RUNNING_SECONDS = 120;
const STORED_SECONDS = 86_400;

/** Stored answers in ahs.idempotent_answer. Every call throws if the database fails. */
export function createIdempotentAnswers({ db, now }: { readonly db: Database; readonly now: () => Date }) {
  return {
    async begin(slot: RepeatSlot): Promise<ReturnType<typeof beginningOf>> {
      const at = now();
      const begun = await rowsInTime(db, beginAnswer({ ...slot, at, until: after(at, RUNNING_SECONDS) }));
      if (begun.length === 1) return { kind: "begun" };
      const [row] = await rowsInTime<typeof idempotentAnswer.$inferSelect>(db, readAnswer(slot));
      return beginningOf(row, slot);
    },
    /** Stores the answer of a slot under way; a slot in another state stays unchanged. */
    async keep(slot: RepeatSlot, answer: BoughtAnswer): Promise<void> {
      await rowsInTime(db, keepAnswer(storedAnswer(slot, answer, now())));
    },
    /** Ends a slot under way without an answer. */
    async forget({ scope, keyHash, fingerprint }: RepeatSlot): Promise<void> {
      await rowsInTime(db, forgetAnswer({ scope, keyHash, fingerprint }));
    },
  };
}

/** The values by which an answer is stored. */
export function storedAnswer(
  { scope, keyHash, fingerprint }: RepeatSlot,
  { contentType, body }: BoughtAnswer,
  at: Date,
): StoredAnswer {
  const until = after(at, STORED_SECONDS);
  return { scope, keyHash, fingerprint, contentType, body: bytesOf(body), until };
}

function bytesOf(body: string | Uint8Array): Buffer {
  return typeof body === "string"
    ? Buffer.from(body)
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/**
 * State of a slot at the start of a request. begun: new, and under way from now on. A missing row belonged to another request,
 * which has just ended without an answer.
 */
function beginningOf(
  row: typeof idempotentAnswer.$inferSelect | undefined,
  slot: RepeatSlot,
):
  | { readonly kind: "begun" | "running" | "other-request" }
  | { readonly kind: "answered"; readonly answer: BoughtAnswer } {
  if (row === undefined) return { kind: "running" };
  if (row.fingerprint !== slot.fingerprint) return { kind: "other-request" };
  const { answerType: contentType, answerBody: body } = row;
  if (contentType === null || body === null) return { kind: "running" };
  return { kind: "answered", answer: { contentType, body } };
}

function after(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1_000);
}

/** Deletes expired answers and dead requests. Returns the number of rows. */
export async function dropExpiredAnswers(db: Database, now: Date): Promise<number> {
  const { rowCount } = await db.delete(idempotentAnswer).where(lte(idempotentAnswer.expiresAt, now));
  return rowCount ?? Number.NaN;
}

/** Selects uses of Idempotency-Keys by the holder of an API key. */
export type PurchaseQuery = {
  /** Lower-case hex SHA-256 of the API key. */
  readonly apiKeyHash: string;
  /** Lower-case hex SHA-256 of each Idempotency-Key. */
  readonly keyHashes: readonly string[];
  readonly now: Date;
};

/** none: also for a revoked, expired or unknown key. */
export type StoredPurchase =
  | { readonly kind: "none" }
  /** A request is under way. */
  | { readonly kind: "running" }
  /** The answer is stored until `until`. */
  | { readonly kind: "answered"; readonly body: string; readonly until: Date };

/**
 * Returns the newest stored answer of a live key under one of these Idempotency-Keys, else whether one is under way.
 * Starts nothing.
 */
export async function readStoredPurchase(
  db: Database,
  { apiKeyHash, keyHashes, now }: PurchaseQuery,
): Promise<StoredPurchase> {
  const { answerBody, expiresAt, scope, keyHash } = idempotentAnswer;
  const [row] = await underDeadline(db)
    .select({ answerBody, expiresAt })
    .from(apiKey)
    .innerJoin(
      idempotentAnswer,
      and(sql`${scope} = 'key:' || ${apiKey.id}::text`, isOneOf(keyHash, keyHashes)),
    )
    .where(
      and(
        eq(apiKey.keyHash, apiKeyHash),
        isNull(apiKey.revokedAt),
        or(isNull(apiKey.expiresAt), gt(apiKey.expiresAt, now)),
        gt(expiresAt, now),
      ),
    )
    .orderBy(isNull(answerBody), desc(expiresAt))
    .limit(1);
  if (row === undefined) return { kind: "none" };
  if (row.answerBody === null) return { kind: "running" };
  return { kind: "answered", body: row.answerBody.toString("utf8"), until: row.expiresAt };
}
