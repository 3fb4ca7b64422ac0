import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { address, hash, hex, idOf, moment, uint } from "../columns.ts";
import { webhookEndpoint } from "./alerts.ts";
import { ahs } from "./schema.ts";

/** Job specifications, as their clients registered them. Every signature of a client that is stored was verified before. */
export const jobSpec = ahs.table(
  "job_spec",
  {
    id: uuid().primaryKey(),
    clientAddr: address().notNull(),
    providerAddr: address(),
    /** Null once the texts were dropped. */
    specText: text(),
    acceptanceCriteria: text(),
    domain: text().notNull(),
    /** keccak256 of its RFC 8785 form: 0x and 64 hexadecimal digits. */
    specHash: hash().notNull(),
    /** The job that it names; a job without an escrow is on record and binds nothing. */
    jobChainId: integer(),
    jobEscrow: address(),
    jobId: uint(),
    /**
     * The SpecBinding of clientAddr for this job and hash, as it was sent: 0x and hexadecimal digits. It was verified, by ERC-1271
     * for a contract wallet, at registeredBlock or before; what does not verify is not registered, and is not checked again.
     */
    clientSignature: hex(),
    /** The newest block of node and index when it was registered; null where it names no job of a known escrow. */
    registeredBlock: bigint({ mode: "bigint" }),
    createdAt: moment().notNull(),
    textsDroppedAt: moment(),
  },
  (table) => [
    index("job_spec_job").on(table.jobChainId, table.jobEscrow, table.jobId, table.createdAt),
    index("job_spec_texts").on(table.createdAt).where(sql`${table.specText} is not null`),
  ],
);

/**
 * unsettled: its price is held and may be released; it is not visible. pending: to be run from notBefore on. processing: a worker
 * runs it until leaseUntil. completed: it has a verdict. failed: the last run gave none, and there is no decision.
 * Where there is a decision (runs > 0) it is pending or processing for a re-run: to readers it stays completed, by its newest row of
 * verdict_run, and a re-run that fails makes it completed again.
 */
export type VerdictStatus = "unsettled" | "pending" | "processing" | "completed" | "failed";

/** Why a run of the panel is made, or a decision recorded. */
export type RunCause = "submitted" | "retried" | "evidence" | "near_expiry" | "appeal" | "review";

/** One delivered output and what became of it. The row is the queue as well: workers take the due ones. */
export const verdict = ahs.table(
  "verdict",
  {
    id: uuid().primaryKey(),
    specId: idOf(() => jobSpec.id).notNull(),
    /** Key that has one verdict: job:CHAIN:ESCROW:JOB:DELIVERABLE where the spec is bound, else spec:SPEC:OUTPUT_HASH. */
    slot: text().notNull(),
    /** keccak256 of the output's UTF-8 bytes, which a job's deliverable has to be. */
    outputHash: hash().notNull(),
    submittedBy: text().$type<"client" | "agent" | "protocol">().notNull(),
    /** Lower-case addresses; the provider of a bound job is the chain's. */
    submitterAddr: address().notNull(),
    providerAddr: address().notNull(),
    /** Who submitted and pays: key:ID or wallet:ADDRESS. */
    owner: text().notNull(),
    /** Price in thousandths of a US dollar. */
    units: integer().notNull(),
    /** Its payment: a debit of a metered key, a payment, or neither for an unlimited key. */
    debitId: uuid(),
    paymentId: uuid(),
    status: text().$type<VerdictStatus>().notNull(),
    leaseUntil: moment(),
    notBefore: moment().notNull(),
    /** How often workers claimed it since it was accepted, or retried by its owner; nothing else lowers it, since claims go by it. */
    attempts: integer().notNull().default(0),
    /** When the first try of the run that is due was begun; null before. */
    triedAt: moment(),
    /** Cause of the run that is due or under way, else of the last one. */
    cause: text().$type<RunCause>().notNull(),
    /** Decisions so far, which are rows of verdict_run from 1 on. */
    runs: integer().notNull().default(0),
    /** How often its owner had it retried after it had failed. */
    retries: integer().notNull().default(0),
    /** That of the newest run; null before the first. */
    finalVerdict: text().$type<"ALLOW" | "HOLD" | "REJECT">(),
    /** Why it failed, or why its last re-run did; null while it is tried again. */
    errorMessage: text(),
    /** The job that its spec was bound to when it was accepted; null where it was not. */
    jobChainId: integer(),
    jobEscrow: address(),
    jobId: uint(),
    /** Money that an ALLOW pays, in millionths of a US dollar, and expiry of the job, both as of the submission; null if unknown. */
    stakeMicroUsd: uint(),
    expiresAt: moment(),
    /** Tokens that a run is expected to take; null of a verdict that no panel was configured for, and of older ones. */
    runTokens: integer(),
    /** Where its events go; null where nowhere. */
    endpointId: idOf(() => webhookEndpoint.id),
    createdAt: moment().notNull(),
    acceptedAt: moment(),
    evaluatedAt: moment(),
    /** When another took its slot: after it had failed for good, or once its chain was replaced. */
    replacedAt: moment(),
    updatedAt: moment().notNull(),
  },
  (table) => [
    uniqueIndex("verdict_slot").on(table.slot).where(sql`${table.replacedAt} is null`),
    index("verdict_due").on(table.status, table.notBefore),
    index("verdict_spec").on(table.specId),
    // The newest of an owner.
    index("verdict_owner").on(table.owner, table.createdAt.desc()),
    index("verdict_job").on(table.jobChainId, table.jobEscrow, table.jobId),
    index("verdict_debit").on(table.debitId).where(sql`${table.debitId} is not null`),
    index("verdict_payment").on(table.paymentId).where(sql`${table.paymentId} is not null`),
    index("verdict_endpoint").on(table.endpointId).where(sql`${table.endpointId} is not null`),
  ],
);

/** The delivered text of a verdict; the row goes when its time of retention is over. */
export const outputText = ahs.table(
  "output_text",
  {
    verdictId: idOf(() => verdict.id, { onDelete: "cascade" }).primaryKey(),
    text: text().notNull(),
    createdAt: moment().notNull(),
  },
  (table) => [index("output_text_created").on(table.createdAt)],
);

/** Texts that were handed in after a HOLD, for one more run. */
export const heldEvidence = ahs.table(
  "held_evidence",
  {
    id: uuid().primaryKey(),
    verdictId: idOf(() => verdict.id, { onDelete: "cascade" }).notNull(),
    /** key:ID or wallet:ADDRESS. */
    submittedBy: text().notNull(),
    /** Null once its time of retention is over. */
    text: text(),
    /** keccak256 of its UTF-8 bytes. */
    textHash: hash().notNull(),
    /** Who said with it that they hand in no more, as submittedBy. */
    finalBy: text().array().notNull().default([]),
    createdAt: moment().notNull(),
  },
  (table) => [
    uniqueIndex("held_evidence_once").on(table.verdictId, table.textHash),
    index("held_evidence_texts").on(table.createdAt).where(sql`${table.text} is not null`),
  ],
);

/** Answer of one role in one run, or its reason to abstain: stored at once, so that no answer is paid for twice. */
export const roleCall = ahs.table(
  "role_call",
  {
    verdictId: idOf(() => verdict.id, { onDelete: "cascade" }).notNull(),
    /** The number that the run's row of verdict_run gets. */
    run: integer().notNull(),
    role: text().notNull(),
    model: text().notNull(),
    /** As the role's schema has it; null where it abstained. */
    answer: jsonb(),
    /** Why it abstained; null where it answered. */
    failure: text(),
    /** How the schema was asked for. */
    mode: text().$type<"json_schema" | "json_object">().notNull(),
    /** Requests that it took, repairs included. */
    requests: integer().notNull(),
    promptTokens: integer().notNull(),
    completionTokens: integer().notNull(),
    /** Null where no price is configured. */
    costUsd: doublePrecision(),
    latencyMs: integer().notNull(),
    createdAt: moment().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.verdictId, table.run, table.role] }),
    // With all that the tokens of a day are summed from, so that the rows are not read for it.
    index("role_call_created").on(table.createdAt, table.promptTokens, table.completionTokens),
  ],
);

/** Requests to erase the texts of a verdict, which a worker carries out. */
export const textErasure = ahs.table(
  "text_erasure",
  {
    verdictId: idOf(() => verdict.id, { onDelete: "cascade" }).primaryKey(),
    /** key:ID or wallet:ADDRESS. */
    requestedBy: text().notNull(),
    /** Whether the client asked, whose specification goes as well. */
    withSpec: boolean().notNull(),
    requestedAt: moment().notNull(),
    erasedAt: moment(),
  },
  (table) => [index("text_erasure_due").on(table.requestedAt).where(sql`${table.erasedAt} is null`)],
);

/** Every decision on an output: one of the panel's runs, or a reviewer's. The newest counts. */
export const verdictRun = ahs.table(
  "verdict_run",
  {
    verdictId: idOf(() => verdict.id, { onDelete: "cascade" }).notNull(),
    run: integer().notNull(),
    cause: text().$type<RunCause>().notNull(),
    finalVerdict: text().$type<"ALLOW" | "HOLD" | "REJECT">().notNull(),
    /** As in the answer of GET /v1/verdicts/{verdict_id}. */
    result: jsonb().notNull(),
    /** Its evidence as RFC 8785 JSON, byte by byte what was hashed; empty once erased on request. */
    evidence: text().notNull(),
    evidenceHash: hash().notNull(),
    createdAt: moment().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.verdictId, table.run] }),
    index("verdict_run_evidence").on(table.evidenceHash),
  ],
);
