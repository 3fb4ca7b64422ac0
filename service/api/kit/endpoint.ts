import { hash } from "node:crypto";
import type { RouteConfig } from "@hono/zod-openapi";
import canonicalize from "canonicalize";
import type { BoughtAnswer, Listing, PaidRequest, PayingCaller } from "../../access/access.ts";
import { methodNotAllowed } from "../../access/problems.ts";
import { addHeaders, callerRequest } from "./answer.ts";
import type { ApiContext } from "./api-env.ts";
import type { RequestLimits } from "./deadline.ts";
import { describeOperation, type Pricing } from "./describe-operation.ts";
import type {
  AnswerSpec,
  CheckContext,
  EndpointSpec,
  FreeSpec,
  KitServices,
  PaidSpec,
  PaymentTerms,
  Price,
  SaleSpec,
} from "./endpoint-spec.ts";
import { type RequestInput, readInput } from "./read-input.ts";
import { answerBought, servePaid } from "./serve-paid.ts";

/** One method of one path. `Needs` are the services that it uses beside those of the kit. */
export type Endpoint<Needs = never> = {
  readonly method: "get" | "post" | "put" | "delete";
  /** OpenAPI template, for example /ahs/{address}. */
  readonly path: string;
  /** Thousandths of a US dollar: the fixed, the lowest or, if it is metered, the highest price; null for a free endpoint. */
  readonly price: number | null;
  readonly paidBy: PaidRequest["paidBy"];
  readonly summary: string;
  /** The description of the MCP tool; null without one. */
  readonly tool: string | null;
  readonly operation: RouteConfig;
  readonly answer: AnswerSpec<unknown>;
  readonly handle: (context: ApiContext, runtime: Runtime<Needs>) => Promise<Response>;
};

/** Parts of the server that an endpoint is called with. */
export type Runtime<Needs> = {
  readonly deps: Needs & KitServices;
  readonly limits: RequestLimits;
  /** Listings by method and path template. */
  readonly catalog: ReadonlyMap<string, Listing>;
};

/** The services of all endpoints of a list: the intersection of their needs. */
export type NeedsOf<Endpoints extends readonly Endpoint[]> = (
  Endpoints[number] extends infer One
    ? One extends Endpoint<infer Needs>
      ? (needs: Needs) => void
      : never
    : never
) extends (needs: infer All) => void
  ? All
  : never;

/** From this price on, settlement comes before the work, unless the endpoint decides otherwise. */
const SETTLE_FIRST_UNITS = 2000;

/** A priced endpoint that charges, works, and captures the price with the answer. */
export function definePaid<Needs>() {
  return <Params, Query, Body, Answer, Checked, Prepared = Checked>(
    spec: PaidSpec<Needs, Params, Query, Body, Answer, Checked, Prepared>,
  ): Endpoint<Needs> => {
    const { keys = "any", settled } = spec.payment ?? {};
    return saleEndpoint<Needs, Params, Query, Body, Answer, Checked, Prepared>({
      ...spec,
      payment: settled === "captured" ? { keys, settled } : { keys },
      async sell(input, prepared, sale) {
        const free = sale.isOwed ? null : (spec.freeAnswer?.(input, prepared) ?? null);
        if (free !== null) return sale.free(free);
        const isLarge = sale.request.units >= SETTLE_FIRST_UNITS && !isMeteredBy(sale.caller);
        const chosen = typeof settled === "function" ? settled(prepared) : settled;
        const byPrice = isLarge ? "before" : "after";
        const settlement = chosen === "captured" ? "before" : (chosen ?? byPrice);
        const { debitId, deliver } = await sale.take({ settlement });
        return deliver(async () => spec.work(input, prepared, { ...sale, debitId }));
      },
    });
  };
}

/** The answer decides what such a payment is charged: it is settled after the work. */
export function isMeteredBy(caller: PayingCaller): boolean {
  return caller.kind === "payer" && caller.payment.taking === "metered";
}

/** A priced endpoint with a purchase protocol of its own. */
export function defineSale<Needs>() {
  return <Params, Query, Body, Answer, Checked, Prepared = Checked>(
    spec: SaleSpec<Needs, Params, Query, Body, Answer, Checked, Prepared>,
  ): Endpoint<Needs> => saleEndpoint<Needs, Params, Query, Body, Answer, Checked, Prepared>(spec);
}

/**
 * Steps of every priced endpoint: validation, identity, rate limit, stored answers, cheap checks, the 402 of callers who cannot
 * pay, costly refusals, sale. HEAD is refused, because Hono would run the handler of GET.
 */
function saleEndpoint<Needs, Params, Query, Body, Answer, Checked, Prepared>(
  spec: SaleSpec<Needs, Params, Query, Body, Answer, Checked, Prepared>,
): Endpoint<Needs> {
  const pricing = pricingOf(spec);
  return {
    ...erased(spec, pricing),
    async handle(context, { deps, limits, catalog }) {
      const { access, clock } = deps;
      addHeaders(context, { "cache-control": "private, no-store" });
      if (context.req.method === "HEAD")
        throw methodNotAllowed("HEAD", context.req.path, [spec.method.toUpperCase(), "OPTIONS"]);
      const input = await readInput(context.req, spec.request);
      const check = { deps, now: clock.now() };
      if (spec.preview !== undefined && Reflect.get(Object(input.query), "preview") === true) {
        const previewing = previewOf(spec, input, check);
        return answerBought(context, await limits.startDeadline().wait(previewing));
      }
      const distinction = await spec.distinguish?.({ header: (name) => context.req.header(name) }, deps);
      const request = describePaidRequest(context, {
        ...spec,
        ...pricing,
        units: unitsOf(spec.price, input),
        distinction,
        showsSecret: spec.withoutSecrets !== undefined,
        input,
        catalog,
        stopping: limits.stopping,
      });
      const deadline = limits.startDeadline();
      const caller = await deadline.wait(access.identify(request));
      addHeaders(context, await deadline.wait(access.limit(caller)));
      const repeated = await deadline.wait(access.recall(caller, request));
      if (repeated !== null) return answerBought(context, repeated);
      const { startDeadline } = limits;
      const call = { input, request, access, deadline, startDeadline, caller, context: check };
      try {
        return await servePaid(context, spec, call);
      } catch (error) {
        await access.forget(caller, request);
        throw error;
      }
    },
  };
}

function unitsOf<Input>(price: Price<Input, never>, input: Input): number {
  return "units" in price ? price.units : price.of(input);
}

function pricingOf({
  price,
  payment,
}: {
  readonly price: Price<never, never>;
  readonly payment?: PaymentTerms;
}): Pricing {
  return {
    units: "units" in price ? price.units : "upTo" in price ? price.upTo : price.from,
    leastUnits: "upTo" in price ? price.from : null,
    paidBy: payment?.keys === "none" ? "payment" : "anyone",
    isFixed: "units" in price,
    isMetered: "upTo" in price,
    isCaptured: payment?.settled === "captured",
  };
}

/** The free preview of a priced endpoint as JSON, under the endpoint's own refusals. */
async function previewOf<Needs, Params, Query, Body, Answer, Checked, Prepared>(
  spec: Pick<SaleSpec<Needs, Params, Query, Body, Answer, Checked, Prepared>, "check" | "preview">,
  input: RequestInput<Params, Query, Body>,
  context: CheckContext<Needs>,
): Promise<BoughtAnswer> {
  await spec.check(input, { ...context, caller: { kind: "nobody" } });
  const body = JSON.stringify(await spec.preview?.(input, context));
  return { contentType: "application/json", body };
}

/** A free endpoint: validation, then its own response. */
export function defineFree<Needs>() {
  return <Params, Query, Body, Answer>(
    spec: FreeSpec<Needs, Params, Query, Body, Answer>,
  ): Endpoint<Needs> => ({
    ...erased(spec, null),
    async handle(context, { deps, limits }) {
      const deadline = limits.startDeadline();
      const input = await readInput(context.req, spec.request);
      const respond = async () => spec.respond(context, input, { deps, now: deps.clock.now() });
      return deadline.wait(respond());
    },
  });
}

function erased<Params, Query, Body, Answer>(
  spec: EndpointSpec<Params, Query, Body, Answer>,
  pricing: Pricing | null,
): Omit<Endpoint, "handle"> {
  return {
    method: spec.method,
    path: spec.path,
    price: pricing?.units ?? null,
    paidBy: pricing?.paidBy ?? "anyone",
    summary: spec.summary,
    tool: spec.tool ?? null,
    operation: describeOperation(spec, pricing),
    answer: spec.answer,
  };
}

/** A priced request in the terms of access. */
function describePaidRequest(
  context: ApiContext,
  priced: Pick<PaidRequest, "paidBy" | "summary" | "units" | "isMetered" | "isCaptured" | "showsSecret"> & {
    readonly method: string;
    readonly path: string;
    readonly input: unknown;
    /** Distinguishes requests of equal input; undefined if the input suffices. */
    readonly distinction: unknown;
    readonly catalog: ReadonlyMap<string, Listing>;
    /** Fires when the server stops. */
    readonly stopping: AbortSignal;
  },
): PaidRequest {
  const { req } = context;
  const endpoint = `${priced.method.toUpperCase()} ${priced.path}`;
  const { pathname, search } = new URL(req.url);
  const { input, distinction } = priced;
  const also = distinction === undefined ? {} : { distinction };
  const listing = priced.catalog.get(endpoint);
  return {
    ...callerRequest(context),
    ...(listing === undefined ? {} : { listing: listingOf(listing, req.param()) }),
    endpoint,
    resource: `${pathname}${search}`,
    units: priced.units,
    isMetered: priced.isMetered,
    isCaptured: priced.isCaptured,
    showsSecret: priced.showsSecret,
    summary: priced.summary,
    paidBy: priced.paidBy,
    fingerprint: () => hash("sha256", canonicalize({ endpoint, input, ...also }) ?? "", "hex"),
    get signal() {
      // Built on demand, because it costs as much as a read and most requests never use it.
      return AbortSignal.any([req.raw.signal, priced.stopping]);
    },
  };
}

/** The listing of an endpoint with the path of this request as its example. */
function listingOf(listing: Listing, pathParams: Readonly<Record<string, string>>): Listing {
  const { info, ...declaration } = listing.bazaar;
  const input = { ...info.input, pathParams };
  return { ...listing, bazaar: { ...declaration, info: { ...info, input } } };
}
