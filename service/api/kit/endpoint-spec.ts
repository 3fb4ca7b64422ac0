import type { z } from "@hono/zod-openapi";
import type {
  BoughtAnswer,
  Caller,
  Hold,
  PaidRequest,
  PayingCaller,
  Settlement,
} from "../../access/access.ts";
import type { ProblemCode } from "../../access/problems.ts";
import type { ApiContext } from "./api-env.ts";
import type { RequestInput, RequestSchemas } from "./read-input.ts";

/** The success of an endpoint. The example of the OpenAPI document is made of those of its fields. */
export type AnswerSpec<Answer> = {
  readonly schema: z.ZodType<Answer>;
  readonly description: string;
  /** Media types beside JSON that `render` can make of it. */
  readonly renderings?: readonly string[];
};

/** Members of every endpoint, free or priced. */
export type EndpointSpec<Params, Query, Body, Answer> = {
  readonly method: "get" | "post" | "put" | "delete";
  readonly path: string;
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

/** An endpoint that charges its price for every answer that is a success. */
export type PaidSpec<Params, Query, Body, Answer, Checked, Deps, Prepared = Checked> = EndpointSpec<
  Params,
  Query,
  Body,
  Answer
> & {
  /** Thousandths of a US dollar; the lowest price if `priceOf` computes it. */
  readonly price: number;
  priceOf?(input: RequestInput<Params, Query, Body>): number;
  /** payment: a key cannot pay, but may accompany the payment. */
  readonly paidBy?: PaidRequest["paidBy"];
  /**
   * Distinguishes requests of equal input under one Idempotency-Key or payment, for example by a key in a header. Throws the 401
   * of an invalid key.
   */
  distinguish?(request: Pick<PaidRequest, "header">, deps: Deps): Promise<unknown>;
  /** Refuses input that the schemas cannot, by caller: throws a 422 or a problem. */
  admit?(input: RequestInput<Params, Query, Body>, caller: Caller): void;
  /**
   * Refusals for every caller: throws 404s and 503s. It runs before the caller proves ability to pay, so it reads memory and rows
   * by primary key only: no node, no decoding, no statement that grows with a wallet's history.
   */
  check(input: RequestInput<Params, Query, Body>, check: CheckContext<Deps>): Promise<Checked>;
  /**
   * Costly refusals before the charge, for callers who can pay. Without it the work gets the result of `check`.
   */
  prepare?(
    input: RequestInput<Params, Query, Body>,
    checked: Checked,
    work: PaidWorkContext<Deps>,
  ): Promise<Prepared>;
  /** Whether the settlement comes before the work. Default: from 2 USD on. */
  settlement?(input: RequestInput<Params, Query, Body>, prepared: Prepared): Settlement;
  /** The answer if it exists already: free for callers who could pay. Null if it has to be bought. */
  bought?(prepared: Prepared): Answer | null;
  /** Asked again for a key with too low a balance; may wait for other buyers, up to a 409. */
  boughtMeanwhile?(prepared: Prepared, work: WaitContext<Deps>): Promise<Answer | null>;
  /**
   * Records the purchase in a transaction, after the price is held and the payment verified, and before the settlement. If it
   * throws, the price is returned. Work for a key keeps the debit in the transaction that activates the note.
   */
  accept?(
    input: RequestInput<Params, Query, Body>,
    prepared: Prepared,
    work: AcceptContext<Deps>,
  ): Promise<Acceptance<Answer>>;
  /** Removes a note after its price was returned; a settled one stays. Must not throw. */
  withdraw?(noted: string, work: PaidWorkContext<Deps>): Promise<void>;
  /** The paid work. If it throws, the price is returned, or the answer stays owed. */
  work(
    input: RequestInput<Params, Query, Body>,
    prepared: Prepared,
    work: ChargedWorkContext<Deps>,
  ): Promise<Answer> | Answer;
  /** The answer in another form; null if the request asks for JSON. */
  render?(
    answer: Answer,
    input: RequestInput<Params, Query, Body>,
    work: PaidWorkContext<Deps>,
  ): Promise<BoughtAnswer> | null;
  /** The answer for repeats, without the secrets that are shown once. */
  withoutSecrets?(answer: Answer): Answer;
  /** Frees what was prepared. Called once at the end of every request; must not throw. */
  release?(prepared: Prepared): void;
};

/** Context of checks and free endpoints; it has no caller. */
export type CheckContext<Deps> = { readonly deps: Deps; readonly now: Date };

/** Context of priced work. */
export type PaidWorkContext<Deps> = CheckContext<Deps> & {
  readonly caller: PayingCaller;
  /** A header of the request. */
  header(name: string): string | undefined;
};

/** A purchase that is noted before its settlement; the secret appears in the first answer only. */
export type Noted = { readonly id: string; readonly secret: string | null };

/** Either noted, or bought by another caller before, which costs nothing. */
export type Acceptance<Answer> =
  | ({ readonly kind: "noted" } & Noted)
  | { readonly kind: "bought"; readonly answer: Answer };

/** The signal fires when the client disconnects or the server stops. */
export type WaitContext<Deps> = PaidWorkContext<Deps> & { readonly signal: AbortSignal };

/** Context of `accept`. */
export type AcceptContext<Deps> = WaitContext<Deps> & Hold;

/** Context of work after its price is taken. */
type ChargedWorkContext<Deps> = PaidWorkContext<Deps> & {
  /** The debit that pays; null unless the caller is a metered key. */
  readonly debitId: string | null;
  /** The result of `accept`; null without it. */
  readonly noted: Noted | null;
};

/** A free endpoint, which builds its own response. */
export type FreeSpec<Params, Query, Body, Answer, Deps> = EndpointSpec<Params, Query, Body, Answer> & {
  respond(
    context: ApiContext,
    input: RequestInput<Params, Query, Body>,
    work: CheckContext<Deps>,
  ): Promise<Response> | Response;
};
