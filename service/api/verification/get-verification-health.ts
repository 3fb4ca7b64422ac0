import { z } from "@hono/zod-openapi";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import type { HealthReport } from "./check-health.ts";
import { CHECK_NAMES } from "./check-health.ts";

/** Services of the endpoint. */
type Needs = {
  readonly verificationHealth: () => Promise<HealthReport>;
};

const checkSchema = z
  .object({
    status: z.enum(["ok", "failing", "not_configured"]),
    detail: z.string().openapi({ example: "answers" }),
  })
  .openapi("VerificationCheck");

const healthSchema = z
  .object({
    status: z.enum(["ok", "unavailable"]),
    service: z.literal("agent-health-verification"),
    version: z.literal("0.1.0"),
    checks: z.object({ database: checkSchema, queue: checkSchema, model: checkSchema, chain: checkSchema }),
  })
  .openapi("VerificationHealth");

type Health = z.infer<typeof healthSchema>;

/** GET /health: the liveness of the verification interface; GET /health/{address} is a priced diagnosis. */
export const getVerificationHealth = defineFree<Needs>()({
  method: "get",
  path: "/health",
  operationId: "check_verification_health",
  tag: "Operation",
  summary: "Whether verification works",
  description:
    "200 when the database answers, no verdict has waited too long for a worker, the model server lists its models, the index is fresh and the node, where one is configured, reports its newest block; else 503 with the same body. `model` asks for the list alone: whether the configured model answers a question shows in the verdicts. Without a configured model it is `not_configured`: that is no fault, and outputs are refused. Each check takes two seconds at most; database and queue are looked at again after two seconds, model and chain after five.",
  request: { params: z.object({}), query: z.object({}), body: null },
  answer: { schema: healthSchema, description: "It works" },
  alternatives: { 503: { schema: healthSchema, description: "Something that it needs fails" } },
  problems: ["internal"],
  async respond(context, _input, { deps }) {
    const checks = await deps.verificationHealth();
    const isWell = CHECK_NAMES.every((name) => checks[name].status !== "failing");
    const health: Health = {
      status: isWell ? "ok" : "unavailable",
      service: "agent-health-verification",
      version: "0.1.0",
      checks,
    };
    const noStore = { "cache-control": "no-store" };
    return isWell
      ? answerJson(context, health, { headers: noStore })
      : answerJson(context, health, { status: 503, headers: { ...noStore, "retry-after": "5" } });
  },
});
