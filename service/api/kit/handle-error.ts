import type { ErrorHandler } from "hono";
import type { Logger } from "pino";
import { OwedAnswer } from "../../access/access.ts";
import { PaymentRequiredError } from "../../access/payments/payment-terms.ts";
import { Problem, unavailable } from "../../access/problems.ts";
import { databaseFailure } from "../../db/database-failure.ts";
import { answerJson } from "./answer.ts";
import type { ApiContext, ApiEnv } from "./api-env.ts";
import { ValidationFailed } from "./validation-failed.ts";

const RETRY_AFTER_SECONDS = 5;

/** Answers thrown errors. An unexpected error is logged in full and answered as a bare 500. */
export function createErrorHandler(logger: Logger): ErrorHandler<ApiEnv> {
  return (error, context) => {
    if (error instanceof ValidationFailed) return answerJson(context, error.render(), { status: 422 });
    if (error instanceof PaymentRequiredError) {
      return answerJson(context, error.terms, { status: 402, headers: error.headers });
    }
    if (error instanceof OwedAnswer) return answerProblem(owed(error, context, logger), context);
    return answerProblem(
      error instanceof Problem ? error : problemOf(error, requestOf(context), logger),
      context,
    );
  };
}

/** The failure of paid work, with the claim to its answer and the report of its settlement: a 503, whatever the failure was. */
function owed(
  { owed: { claim, headers: settled }, cause }: OwedAnswer,
  context: ApiContext,
  logger: Logger,
): Problem {
  const failure = cause instanceof Error ? cause : new Error("paid work failed", { cause });
  const { code, status, detail, headers } =
    failure instanceof Problem ? failure : problemOf(failure, requestOf(context), logger);
  const proof = claim === null ? "" : " with this claim";
  const text = `${detail} The payment is settled: the same request${proof} is answered without another.`;
  const passing = status === 503 ? { code, headers } : { code: "answer-owed" as const, headers: {} };
  return new Problem(passing.code, text, {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS), ...passing.headers, ...settled },
    ...(claim === null ? {} : { claim }),
    cause,
  });
}

/** The response of a problem. */
export function answerProblem(problem: Problem, context: ApiContext): Response {
  const body = problem.render({ instance: context.req.path, requestId: context.get("requestId") });
  const headers = { ...problem.headers, "content-type": "application/problem+json" };
  return answerJson(context, body, { status: problem.status, headers });
}

function requestOf(context: ApiContext): Readonly<Record<string, string>> {
  return { request_id: context.get("requestId"), method: context.req.method, path: context.req.path };
}

/** Logs an unexpected error in full and returns its problem; `about` adds fields to the log line. */
export function problemOf(error: Error, about: Readonly<Record<string, string>>, logger: Logger): Problem {
  const failure = databaseFailure(error);
  if (failure === null) {
    logger.error({ ...about, err: error }, "unexpected error");
    return new Problem("internal", "The fault is ours.", { cause: error });
  }
  logger.warn({ ...about, err: error }, "statement failed");
  const options = { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error };
  return failure === "database"
    ? unavailable("database-unavailable", "The database does not answer.", options)
    : unavailable("index-unavailable", "The index has not finished its first pass.", options);
}
