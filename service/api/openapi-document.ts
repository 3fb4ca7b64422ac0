import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ApiEnv } from "./api-env.ts";

/** The OpenAPI 3.1 document of everything mounted so far. */
export type ApiDocument = ReturnType<OpenAPIHono<ApiEnv>["getOpenAPI31Document"]>;

/** Describes an app; call it once all endpoints are mounted. */
export function openApiDocument(app: OpenAPIHono<ApiEnv>): ApiDocument {
  app.openAPIRegistry.registerComponent("securitySchemes", "ApiKey", {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
  });
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Agent Health",
      version: "0.1.0",
      description:
        "Scores autonomous agents by what their wallets did on chain, and routes payments to them. Errors are RFC 9457 problems; requests that do not fit are 422 with every fault listed. Nobody pays for an answer that is not 200.",
    },
    servers: [{ url: "/" }],
  });
}
