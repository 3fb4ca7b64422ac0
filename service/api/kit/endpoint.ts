import { hash } from "node:crypto";
import type { RouteConfig } from "@hono/zod-openapi";
import canonicalize from "canonicalize";
import type { Access, PaidRequest } from "../../access/access.ts";
import { methodNotAllowed } from "../../access/problems.ts";
import { addHeaders } from "./answer.ts";
import type { ApiContext, Clock } from "./api-env.ts";
import type { RequestLimits } from "./deadline.ts";
import { describeOperation, type Pricing } from "./describe-operation.ts";
import type { AnswerSpec, EndpointSpec, FreeSpec, PaidSpec } from "./endpoint-spec.ts";
import { readInput } from "./read-input.ts";
import { answerBought, servePaid } from "./serve-paid.ts";

/** One method of one path. */
export type Endpoint<Deps> = {
  readonly method: "get" | "post" | "put" | "delete";
  /** OpenAPI template, for example /ahs/{address}. */
  readonly path: string;
  /** Thousandths of a US dollar, the lowest if it varies; null for a free endpoint. */
  readonly price: number | null;
  readonly paidBy: PaidRequest["paidBy"];
  readonly summary: string;
  readonly operation: RouteConfig;
  readonly answer: AnswerSpec<unknown>;
  handle(context: ApiContext, runtime: EndpointRuntime<Deps>): Promise<Response>;
};

export type EndpointRuntime<Deps> = {
  readonly deps: Deps;
  readonly access: Access;
  readonly clock: Clock;
  readonly limits: RequestLimits;
};

/**
 * A priced endpoint. Its steps: validation, identity, rate limit, stored answers, cheap checks, the 402 of callers who cannot
 * pay, costly refusals, charge, work. HEAD is refused, because Hono would run the handler of GET.
 */
export function definePaid<Params, Query, Body, Answer, Checked, Deps, Prepared = Checked>(
  spec: PaidSpec<Params, Query, Body, Answer, Checked, Deps, Prepared>,
): Endpoint<Deps> {
  return {
    ...erased(spec, {
      units: spec.price,
      paidBy: spec.paidBy ?? "anyone",
      isFixed: spec.priceOf === undefined,
    }),
    async handle(context, { deps, access, clock, limits }) {
      addHeaders(context, { "cache-control": "private, no-store" });
      if (context.req.method === "HEAD")
        throw methodNotAllowed("HEAD", context.req.path, allowOf(spec.method));
      const input = await readInput(context.req, spec.request);
      const units = spec.priceOf?.(input) ?? spec.price;
      const distinction = await spec.distinguish?.({ header: (name) => context.req.header(name) }, deps);
      const request = describePaidRequest(context, {
        ...spec,
        distinction,
        paidBy: spec.paidBy ?? "anyone",
        units,
        input,
        stopping: limits.stopping,
      });
      const deadline = limits.startDeadline();
      const caller = await deadline.wait(access.identify(request));
      addHeaders(context, await deadline.wait(access.limit(caller)));
      spec.admit?.(input, caller);
      const repeated = await deadline.wait(access.recall(caller, request));
      if (repeated !== null) return answerBought(context, repeated);
      const call = {
        input,
        request,
        access,
        deadline,
        startDeadline: limits.startDeadline,
        caller,
        context: { deps, now: clock.now() },
      };
      try {
        return await servePaid(context, spec, call);
      } catch (error) {
        await access.forget(caller, request);
        throw error;
      }
    },
  };
}

/** A free endpoint: validation, then its own response. */
export function defineFree<Params, Query, Body, Answer, Deps>(
  spec: FreeSpec<Params, Query, Body, Answer, Deps>,
): Endpoint<Deps> {
  return {
    ...erased(spec, null),
    async handle(context, { deps, clock, limits }) {
      const deadline = limits.startDeadline();
      const input = await readInput(context.req, spec.request);
      return deadline.wait(respond());

      async function respond() {
        return spec.respond(context, input, { deps, now: clock.now() });
      }
    },
  };
}

function erased<Params, Query, Body, Answer>(
  spec: EndpointSpec<Params, Query, Body, Answer>,
  pricing: Pricing | null,
): Omit<Endpoint<unknown>, "handle"> {
  return {
    method: spec.method,
    path: spec.path,
    price: pricing?.units ?? null,
    paidBy: pricing?.paidBy ?? "anyone",
    summary: spec.summary,
    operation: describeOperation(spec, pricing),
    answer: spec.answer,
  };
}

function allowOf(method: string): readonly string[] {
  return [method.toUpperCase(), "OPTIONS"];
}

type PricedInput = {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly paidBy: PaidRequest["paidBy"];
  readonly units: number;
  readonly input: unknown;
  /** Distinguishes requests of equal input; undefined if the input suffices. */
  readonly distinction?: unknown;
  /** Fires when the server stops. */
  readonly stopping: AbortSignal;
};

/** A priced request in the terms of access. */
function describePaidRequest(context: ApiContext, priced: PricedInput): PaidRequest {
  const { req } = context;
  const endpoint = `${priced.method.toUpperCase()} ${priced.path}`;
  const { pathname, search } = new URL(req.url);
  const { input, distinction } = priced;
  const also = distinction === undefined ? {} : { distinction };
  return {
    header: (name) => req.header(name),
    endpoint,
    resource: `${pathname}${search}`,
    units: priced.units,
    summary: priced.summary,
    paidBy: priced.paidBy,
    fingerprint: () => hash("sha256", canonicalize({ endpoint, input, ...also }) ?? "", "hex"),
    get signal() {
      // Built on demand, because it costs as much as a read and most requests never use it.
      return AbortSignal.any([req.raw.signal, priced.stopping]);
    },
  };
}
