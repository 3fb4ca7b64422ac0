import type { z } from "@hono/zod-openapi";
import type { Logger } from "pino";
import type { Address } from "viem";
import type {
  Access,
  BoughtAnswer,
  Caller,
  ChargeTerms,
  PaidRequest,
  PayingCaller,
  Settlement,
} from "../../access/access.ts";
import type { ProblemCode } from "../../access/problems.ts";
import type { ApiContext, Clock } from "./api-env.ts";
import type { RequestInput, RequestSchemas } from "./read-input.ts";

/** The success of an endpoint. The example of the OpenAPI document is made of those of its fields. */
export type AnswerSpec<Answer> = {
  readonly schema: z.ZodType<Answer>;
  readonly description: string;
  /** Media types beside JSON in which `deliver` can answer. */
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

/**
 * Thousandths of a US dollar: a fixed price; the price of an input, `from` being the lowest; or one up to a bound, of which a payment of
 * scheme `upto` is charged what the answer is worth.
 */
export type Price<Input, Answer> =
  | { readonly units: number }
  | { readonly from: number; of(input: Input): number }
  | {
      readonly from: number;
      readonly upTo: number;
      of(input: Input): number;
      metered(answer: Answer): number;
    };

/** How a price is paid. */
export type PaymentTerms = {
  /**
   * Whether the money moves before or after the work; absent: before it from 2 USD on. captured: payments of scheme `auth-capture` are
   * taken as well, and what becomes of the purchase decides whether they are captured or voided.
   */
  readonly settled?: Settlement | "captured";
  /** poor too: a key passes to `sell` whatever its balance. none: a key cannot pay, but may accompany the payment. Default: any. */
  readonly keys?: "any" | "poor too" | "none";
};

/** Members of every priced endpoint. It charges its price for every answer that is a success. */
type PricedSpec<Needs, Params, Query, Body, Answer, Checked, Prepared> = EndpointSpec<
  Params,
  Query,
  Body,
  Answer
> & {
  readonly price: Price<RequestInput<Params, Query, Body>, Answer>;
  readonly payment?: PaymentTerms;
  /**
   * Distinguishes requests of equal input under one Idempotency-Key or payment, for example by a key in a header. Throws the 401
   * of an invalid key.
   */
  distinguish?(request: Pick<PaidRequest, "header">, deps: Needs): Promise<unknown>;
  /**
   * Refusals: throws 404s, 503s, and the 422s that depend on the caller. It runs before the caller proves ability to pay, so it reads
   * memory and rows by primary key only: no node, no decoding, no statement that grows with a wallet's history.
   */
  check(
    input: RequestInput<Params, Query, Body>,
    check: CheckContext<Needs> & { readonly caller: Caller },
  ): Promise<Checked>;
  /** The free answer to `preview=true`, after `check`, for anyone: no caller is known, only the IP limit applies. */
  preview?(input: RequestInput<Params, Query, Body>, context: CheckContext<Needs>): Promise<unknown>;
  /**
   * Costly refusals before the charge, for callers who can pay. Without it the work gets the result of `check`.
   */
  prepare?(
    input: RequestInput<Params, Query, Body>,
    checked: Checked,
    work: PaidWorkContext<Needs>,
  ): Promise<Prepared>;
  /**
   * Wallets, as the answer names them, whose records on chain are renewed because they were read. Their reading is recorded once the
   * price is taken.
   */
  interestIn?(answer: Answer): readonly string[];
  /** The answer for repeats, without the secrets that are shown once. */
  withoutSecrets?(answer: Answer): Answer;
};

/** A priced endpoint that works for every paying caller. */
export type PaidSpec<Needs, Params, Query, Body, Answer, Checked, Prepared = Checked> = Omit<
  PricedSpec<Needs, Params, Query, Body, Answer, Checked, Prepared>,
  "payment"
> & {
  readonly payment?: Pick<PaymentTerms, "keys"> & {
    readonly settled?: PaymentTerms["settled"] | ((prepared: Prepared) => Settlement);
  };
  /** The answer if what was prepared leaves nothing to sell; it is free, unless it was paid before. Null to sell. */
  freeAnswer?(input: RequestInput<Params, Query, Body>, prepared: Prepared): Answer | null;
  /** The paid work. If it throws, the price is returned, or the answer stays owed. */
  work(
    input: RequestInput<Params, Query, Body>,
    prepared: Prepared,
    work: PaidWorkContext<Needs> & {
      /** The debit that pays; null unless the caller is a metered key. */
      readonly debitId: string | null;
    },
  ): Promise<Answer> | Answer;
};

/** A priced endpoint with a purchase protocol of its own. */
export type SaleSpec<Needs, Params, Query, Body, Answer, Checked, Prepared = Checked> = PricedSpec<
  Needs,
  Params,
  Query,
  Body,
  Answer,
  Checked,
  Prepared
> & {
  /** Charges and works, or answers for free. */
  sell(
    input: RequestInput<Params, Query, Body>,
    prepared: Prepared,
    sale: Sale<Needs, Answer>,
  ): Promise<Response>;
};

/** Services that the kit itself uses, for every endpoint. */
export type KitServices = {
  readonly access: Access;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Records that the wallet was read; the on-chain heartbeat depends on it. */
  readonly recordInterest: (address: Address) => Promise<void>;
};

/** Context of checks and free endpoints; it has no caller. `Needs` are the services that the endpoint names. */
export type CheckContext<Needs = unknown> = { readonly deps: Needs & KitServices; readonly now: Date };

/** Context of priced work. */
export type PaidWorkContext<Needs = unknown> = CheckContext<Needs> & {
  readonly caller: PayingCaller;
  /** A header of the request. */
  header(name: string): string | undefined;
};

/** One sale to a caller who can pay. */
export type Sale<Needs, Answer> = PaidWorkContext<Needs> & {
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
     * Works within the deadline, then captures the price and stores the answer, as JSON or as it is rendered. If the work throws,
     * the price is returned, or the answer stays owed.
     */
    deliver(
      work: () => Promise<Answer>,
      render?: (answer: Answer) => Promise<BoughtAnswer>,
    ): Promise<Response>;
  }>;
};

/** A free endpoint, which builds its own response. */
export type FreeSpec<Needs, Params, Query, Body, Answer> = EndpointSpec<Params, Query, Body, Answer> & {
  respond(
    context: ApiContext,
    input: RequestInput<Params, Query, Body>,
    work: CheckContext<Needs>,
  ): Promise<Response> | Response;
};
