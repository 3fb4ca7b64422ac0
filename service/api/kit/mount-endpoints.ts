import type { Hono } from "hono";
import { methodNotAllowed } from "../../access/problems.ts";
import { answer } from "./answer.ts";
import type { ApiContext, ApiEnv } from "./api-env.ts";
import type { Endpoint, Runtime } from "./endpoint.ts";

/** Mounts endpoints; their paths refuse other methods with 405. */
export function mountEndpoints<Needs>(
  app: Hono<ApiEnv>,
  endpoints: readonly Endpoint<NoInfer<Needs>>[],
  runtime: Runtime<Needs>,
): void {
  const paths = Map.groupBy(endpoints, (endpoint) => endpoint.path);
  for (const [path, group] of [...paths].sort(([a], [b]) => byLiteralFirst(a, b))) {
    for (const endpoint of group) {
      app.on(endpoint.method.toUpperCase(), honoPath(path), (context) => {
        context.set("route", path);
        return endpoint.handle(context, runtime);
      });
    }
    const allow = allowedMethods(group);
    app.all(honoPath(path), (context) => refuseMethod(context, path, allow));
  }
}

/** Mounts a page outside the described interface: GET and HEAD, other methods 405. */
export function mountPage(
  app: Hono<ApiEnv>,
  path: string,
  respond: (context: ApiContext) => Response | Promise<Response>,
): void {
  app.get(path, (context) => {
    context.set("route", path);
    return respond(context);
  });
  app.all(path, (context) => refuseMethod(context, path, ["GET", "HEAD", "OPTIONS"]));
}

/** Hono takes the first route that matches, so /ahs/route/policy comes before /ahs/route/{address}. */
function byLiteralFirst(a: string, b: string): number {
  return Number(a.includes("{")) - Number(b.includes("{"));
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(.+?)\}/g, ":$1");
}

function allowedMethods(group: readonly Endpoint[]): readonly string[] {
  const methods = group.flatMap(({ method, price }) =>
    method === "get" && price === null ? ["GET", "HEAD"] : [method.toUpperCase()],
  );
  return [...methods, "OPTIONS"];
}

function refuseMethod(context: ApiContext, path: string, allow: readonly string[]): Response {
  context.set("route", path);
  if (context.req.method === "OPTIONS")
    return answer(context, { status: 204, body: null, headers: { allow: allow.join(", ") } });
  throw methodNotAllowed(context.req.method, path, allow);
}
