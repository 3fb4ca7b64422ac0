import { z } from "@hono/zod-openapi";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";

const livezSchema = z.object({ status: z.literal("ok") });

/** GET /livez: the process answers. It checks no dependency. */
export const getLivez = defineFree<unknown>()({
  method: "get",
  path: "/livez",
  operationId: "check_liveness",
  tag: "Operation",
  summary: "Liveness",
  description: "200 while the process runs.",
  request: { params: z.object({}), query: z.object({}), body: null },
  answer: { schema: livezSchema, description: "It runs" },
  problems: [],
  respond: (context) => answerJson(context, { status: "ok" }),
});
