import type { z } from "@hono/zod-openapi";
import type {
  BoughtAnswer,
  Caller,
  ChargeTerms,
  PaidRequest,
  PayingCaller,
  Settlement,
} from "../../access/access.ts";
import type { ProblemCode } from "../../access/problems.ts";
import type { Services } from "../services.ts";
import type { ApiContext } from "./api-env.ts";
import type { RequestInput, RequestSchemas } from "./read-input.ts";

/** The success of an endpoint. The example of the OpenAPI document is made of those of its fields. */
export type AnswerSpec<Answer> = {
  readonly schema: z.ZodType<Answer>;
  readonly description: string;
  /** Media types beside JSON that `render` can make of it. */
  readonly renderings?: readonly string[];
  /** The answer to a request with `preview=true`. */
  readonly preview?: z.ZodType;
};

/** Members of every endpoint, free or priced. */
export type EndpointSpec<Params, Query, Body, Answer> = {
  readonly method: "get" | "post" | "put" | "delete";
  readonly path: string;
  /** Name in the OpenAPI document and of the MCP tool, in snake case. */
  readonly operationId: string;
  /** Description of the MCP tool: its purpose, its use and its result, without the price; absent without a tool. */
  readonly tool?: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly request: RequestSchemas<Params, Query, Body>;
  readonly answer: AnswerSpec<Answer>;
  /** Other statuses that are not problems. Without a schema they have no body. */
  readonly alternatives?: Readonly<
    Record<number, { readonly schema?: z.ZodType; readonly description: string }>
  >;
  /**
   * The identity that a free endpoint requires: a key; a key or a signed-in wallet (`owner`); or also the manage token of a
   * subscription. Absent for none.
   */
  readonly identity?: "key" | "owner" | "subscription";
  /** Request headers with their descriptions; those that its kind implies are added. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Problems of its own; those that its kind implies are added. */
  readonly problems: readonly ProblemCode[];
};

/** Members of every priced endpoint. It charges its price for every answer that is a success. */
type PricedSpec<Params, Query, Body, Answer, Checked, Prepared> = EndpointSpec<
  Params,
  Query,
  Body,
  Answer
> & {
  /** Thousandths of a US dollar; the lowest price if `priceOf` computes it, or the highest beside a `lowestPrice`. */
  readonly price: number;
  readonly lowestPrice?: number;
  priceOf?(input: RequestInput<Params, Query, Body>): number;
  /** The units that a payment of scheme `upto` is charged for an answer; it authorizes the price. Absent for a fixed price. */
  meteredUnits?(answer: Answer): number;
  /** Payments of scheme `auth-capture` are taken: what becomes of the purchase decides whether they are captured or voided. */
  readonly isCaptured?: true;
  /** payment: a key cannot pay, but may accompany the payment. */
  readonly paidBy?: PaidRequest["paidBy"];
  /**
   * Distinguishes requests of equal input under one Idempotency-Key or payment, for example by a key in a header. Throws the 401
   * of an invalid key.
   */
  distinguish?(request: Pick<PaidRequest, "header">, deps: Services): Promise<unknown>;
  /** Refuses input that the schemas cannot, by caller: throws a 422 or a problem. */
  admit?(input: RequestInput<Params, Query, Body>, caller: Caller): void;
  /**
   * Refusals for every caller: throws 404s and 503s. It runs before the caller proves ability to pay, so it reads memory and rows
   * by primary key only: no node, no decoding, no statement that grows with a wallet's history.
   */
  check(input: RequestInput<Params, Query, Body>, check: CheckContext): Promise<Checked>;
  /** The free answer to `preview=true`, after `check`, for anyone: no caller is known, only the IP limit applies. */
  preview?(input: RequestInput<Params, Query, Body>, context: CheckContext): Promise<unknown>;
  /**
   * Costly refusals before the charge, for callers who can pay. Without it the work gets the result of `check`.
   */
  prepare?(
    input: RequestInput<Params, Query, Body>,
    checked: Checked,
    work: PaidWorkContext,
  ): Promise<Prepared>;
  /**
   * Wallets, as the answer names them, whose records on chain are renewed because they were read. Their reading is recorded once the
   * price is taken.
   */
  interestIn?(answer: Answer): readonly string[];
  /** The answer in another form; null if the request asks for JSON. */
  render?(
    answer: Answer,
    input: RequestInput<Params, Query, Body>,
    work: PaidWorkContext,
  ): Promise<BoughtAnswer> | null;
  /** The answer for repeats, without the secrets that are shown once. */
  withoutSecrets?(answer: Answer): Answer;
  /** Frees what was prepared. Called once at the end of every request; must not throw. */
  release?(prepared: Prepared): void;
};

/** A priced endpoint that works for every paying caller. */
export type PaidSpec<Params, Query, Body, Answer, Checked, Prepared = Checked> = PricedSpec<
  Params,
  Query,
  Body,
  Answer,
  Checked,
  Prepared
> & {
  /** The answer if what was prepared leaves nothing to sell; it is free, unless it was paid before. Null to sell. */
  freeAnswer?(input: RequestInput<Params, Query, Body>, prepared: Prepared): Answer | null;
  /** Whether the settlement comes before the work. Default: from 2 USD on. */
  settlement?(input: RequestInput<Params, Query, Body>, prepared: Prepared): Settlement;
  /** The paid work. If it throws, the price is returned, or the answer stays owed. */
  work(
    input: RequestInput<Params, Query, Body>,
    prepared: Prepared,
    work: PaidWorkContext & {
      /** The debit that pays; null unless the caller is a metered key. */
      readonly debitId: string | null;
    },
  ): Promise<Answer> | Answer;
};

/** A priced endpoint with a purchase protocol of its own. */
export type SaleSpec<Params, Query, Body, Answer, Checked, Prepared = Checked> = PricedSpec<
  Params,
  Query,
  Body,
  Answer,
  Checked,
  Prepared
> & {
  /** A key passes to `sell` whatever its balance, since its answer may be free. */
  readonly takesPoorKeys?: true;
  /** Charges and works, or answers for free. */
  sell(input: RequestInput<Params, Query, Body>, prepared: Prepared, sale: Sale<Answer>): Promise<Response>;
};

/** Context of checks and free endpoints; it has no caller. */
export type CheckContext = { readonly deps: Services; readonly now: Date };

/** Context of priced work. */
export type PaidWorkContext = CheckContext & {
  readonly caller: PayingCaller;
  /** A header of the request. */
  header(name: string): string | undefined;
};

/** One sale to a caller who can pay. */
export type Sale<Answer> = PaidWorkContext & {
  readonly request: PaidRequest;
  /** Whether the caller has paid before and is owed the answer. */
  readonly isOwed: boolean;
  /** Answers without a charge. */
  free(answer: Answer): Promise<Response>;
  /** Takes the price. Throws a 402 if the caller cannot pay. */
  take(terms: ChargeTerms): Promise<{
    /** The debit that pays; null unless the caller is a metered key. */
    readonly debitId: string | null;
    /**
     * Works within the deadline, then captures the price and stores the answer. If the work throws, the price is returned, or the
     * answer stays owed.
     */
    deliver(work: () => Promise<Answer>): Promise<Response>;
  }>;
};

/** A free endpoint, which builds its own response. */
export type FreeSpec<Params, Query, Body, Answer> = EndpointSpec<Params, Query, Body, Answer> & {
  respond(
    context: ApiContext,
    input: RequestInput<Params, Query, Body>,
    work: CheckContext,
  ): Promise<Response> | Response;
};
