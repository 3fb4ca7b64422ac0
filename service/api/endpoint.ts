import type { RouteConfig, z } from "@hono/zod-openapi";
import type { Access, Charge } from "./access/access.ts";
import { answerJson } from "./answer.ts";
import type { ApiContext, Clock } from "./api-env.ts";
import { describeOperation } from "./describe-operation.ts";
import { methodNotAllowed, type ProblemCode } from "./problems.ts";
import { type RequestInput, type RequestSchemas, readInput } from "./validation/read-input.ts";

/** One method of one path, ready to be mounted and described. */
export type Endpoint<Deps> = {
  readonly method: "get" | "post" | "put" | "delete";
  /** OpenAPI template, for example /ahs/{address}. */
  readonly path: string;
  /** Thousandths of a US dollar; null for a free endpoint. */
  readonly price: number | null;
  readonly operation: RouteConfig;
  readonly answer: AnswerSpec<unknown>;
  handle(context: ApiContext, runtime: EndpointRuntime<Deps>): Promise<Response>;
};

export type EndpointRuntime<Deps> = { readonly deps: Deps; readonly access: Access; readonly clock: Clock };

/** What a success looks like; the example is the one that OpenAPI shows. */
type AnswerSpec<Answer> = {
  readonly schema: z.ZodType<Answer>;
  readonly example: Answer;
  readonly description: string;
};

/** What every endpoint says of itself, whatever it costs. */
export type EndpointSpec<Params, Query, Body, Answer> = {
  readonly method: "get" | "post" | "put" | "delete";
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly request: RequestSchemas<Params, Query, Body>;
  readonly answer: AnswerSpec<Answer>;
  /** Answers of other statuses that are no problems. */
  readonly alternatives?: Readonly<
    Record<number, { readonly schema: z.ZodType; readonly description: string }>
  >;
  /** Problems of its own; those that its kind implies are added. */
  readonly problems: readonly ProblemCode[];
};

/** An endpoint that charges its price for every answer that is a success. */
export type PaidSpec<Params, Query, Body, Answer, Prepared, Deps> = EndpointSpec<
  Params,
  Query,
  Body,
  Answer
> & {
  /** Thousandths of a US dollar. */
  readonly price: number;
  /** Everything that can be refused at no cost: throws the 404s and 503s. */
  prepare(input: RequestInput<Params, Query, Body>, work: WorkContext<Deps>): Promise<Prepared>;
  /** The work that was paid for; what it throws gives the price back. */
  work(
    input: RequestInput<Params, Query, Body>,
    prepared: Prepared,
    work: WorkContext<Deps>,
  ): Promise<Answer> | Answer;
  /** Frees what was prepared; called once, however the request ends, and must not throw. */
  release?(prepared: Prepared): void;
};

type WorkContext<Deps> = { readonly deps: Deps; readonly now: Date };

/** An endpoint that anyone may call; it builds its own response. */
export type FreeSpec<Params, Query, Body, Answer, Deps> = EndpointSpec<Params, Query, Body, Answer> & {
  respond(
    context: ApiContext,
    input: RequestInput<Params, Query, Body>,
    work: WorkContext<Deps>,
  ): Promise<Response> | Response;
};

/**
 * A priced endpoint with the order of checks that every one has: validation, identity, free refusals, price, work.
 * HEAD is refused, because Hono would answer it by the handler of GET.
 */
export function definePaid<Params, Query, Body, Answer, Prepared, Deps>(
  spec: PaidSpec<Params, Query, Body, Answer, Prepared, Deps>,
): Endpoint<Deps> {
  const purchase = { endpoint: `${spec.method.toUpperCase()} ${spec.path}`, units: spec.price };
  return {
    ...erased(spec, spec.price),
    async handle(context, { deps, access, clock }) {
      context.set("headers", { ...context.get("headers"), "cache-control": "private, no-store" });
      if (context.req.method === "HEAD")
        throw methodNotAllowed("HEAD", context.req.path, allowOf(spec.method));
      const input = await readInput(context.req, spec.request);
      const caller = await access.identify(context.req);
      const work = { deps, now: clock.now() };
      const prepared = await spec.prepare(input, work);
      try {
        const charge = await access.take(caller, purchase);
        return await charged(charge, async () => answerJson(context, await spec.work(input, prepared, work)));
      } finally {
        spec.release?.(prepared);
      }
    },
  };
}

async function charged(charge: Charge, work: () => Promise<Response>): Promise<Response> {
  let response: Response;
  try {
    response = await work();
  } catch (error) {
    await charge.giveBack();
    throw error;
  }
  return charge.keep(response);
}

/** A free endpoint: validation, then its own response. */
export function defineFree<Params, Query, Body, Answer, Deps>(
  spec: FreeSpec<Params, Query, Body, Answer, Deps>,
): Endpoint<Deps> {
  return {
    ...erased(spec, null),
    async handle(context, { deps, clock }) {
      const input = await readInput(context.req, spec.request);
      return spec.respond(context, input, { deps, now: clock.now() });
    },
  };
}

function erased<Params, Query, Body, Answer>(
  spec: EndpointSpec<Params, Query, Body, Answer>,
  price: number | null,
): Omit<Endpoint<unknown>, "handle"> {
  return {
    method: spec.method,
    path: spec.path,
    price,
    operation: describeOperation(spec, price),
    answer: spec.answer,
  };
}

function allowOf(method: string): readonly string[] {
  return [method.toUpperCase(), "OPTIONS"];
}
