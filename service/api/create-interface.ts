import { Hono } from "hono";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Access } from "../access/access.ts";
import { Problem } from "../access/problems.ts";
import type { IpLimit } from "../access/rate-limits.ts";
import { answer } from "./answer.ts";
import type { ApiContext, ApiEnv, Clock } from "./api-env.ts";
import { createRequestLimits } from "./deadline.ts";
import { type DiscoveryPorts, mountDiscovery } from "./discovery/mount-discovery.ts";
import type { Endpoint } from "./endpoint.ts";
import { createEnvelope } from "./envelope.ts";
import { answerProblem, createErrorHandler } from "./handle-error.ts";
import { mountMcp } from "./mcp/mount-mcp.ts";
import { createRequestMetrics } from "./metrics.ts";
import { mountEndpoints, mountPage } from "./mount-endpoints.ts";
import { mountMetrics } from "./mount-metrics.ts";
import { type DescribedInterface, openApiDocument } from "./openapi-document.ts";
import { mountAssets } from "./pages/assets.ts";
import { frameOf, type PageFrame } from "./pages/frame.ts";
import { answerProblemPage, mountPages, pagesOf, wantsPage } from "./pages/mount-pages.ts";
import { staticPage } from "./pages/page.ts";
import type { PagePorts } from "./pages/page-ports.ts";
import { renderReference } from "./pages/render-reference.ts";
import type { Places, ServedDocument } from "./served-document.ts";
import type { ServerLife } from "./server-life.ts";
import { staticDocument } from "./static-document.ts";

/** What every interface takes from outside, whatever its endpoints do. */
export type InterfacePorts = DiscoveryPorts & {
  readonly access: Access;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A fresh id for requests that bring none. */
  readonly randomId: () => string;
  /** Where request metrics go, and what /metrics prints; it must not hold them already. */
  readonly registry: Registry;
  /** Whether /metrics is a page of this port, for those on this machine alone, or elsewhere. */
  readonly metricsPage: "loopback" | "elsewhere";
  /** Origins whose pages may read answers, or every one. */
  readonly allowedOrigins: readonly string[] | "*";
  readonly life: ServerLife;
  readonly ipLimit: IpLimit;
  /** Address of the socket that a request came over; null for one that came over none. */
  readonly socketAddress: (context: ApiContext) => string | null;
  /** Milliseconds that preparing and doing the work of a request may take together. */
  readonly deadlineMs: number;
  /** What the pages for people show; null for a server that has none. */
  readonly pages: PagePorts | null;
};

/** An interface as it can be mounted, alone or beside others. */
export type ApiInterface<Deps> = Omit<DescribedInterface, "endpoints"> &
  Places & { readonly endpoints: readonly Endpoint<Deps>[] };

/** Where problems are explained, whichever interfaces are mounted. */
const REFERENCE_OF_PROBLEMS = "/docs";

/** One interface or several on one port: a Hono app that touches nothing but its ports, whose shared documents tell of those alone. */
export function createInterfaceApp<Deps extends InterfacePorts>(
  ports: Deps,
  interfaces: readonly ApiInterface<Deps>[],
): Hono<ApiEnv> {
  const { access, clock, logger, registry } = ports;
  const app = new Hono<ApiEnv>();
  const isHttps = ports.discovery.origin.startsWith("https:");
  app.use(createEnvelope({ ...ports, metrics: createRequestMetrics(registry), isHttps }));
  app.onError(createErrorHandler(logger));
  app.notFound((context) => {
    const problem = new Problem("not-found", `There is no ${context.req.path} here; see /docs.`);
    const isShown = ports.pages !== null && wantsPage(context);
    return isShown ? answerProblemPage(context, problem) : answerProblem(problem, context);
  });
  const limits = createRequestLimits({ ...ports, stopping: ports.life.stopping });
  const endpoints = interfaces.flatMap((one) => one.endpoints);
  const served = new Set(endpoints.map(({ path }) => path));
  const frame = frameIn(ports.pages, { interfaces, served });
  app.use(async (context, next) => {
    context.set("frame", frame);
    await next();
  });
  mountEndpoints(app, endpoints, { deps: ports, access, clock, limits });
  mountAssets(app, ports.pages?.assets ?? []);
  if (ports.pages !== null) {
    const dispatch = async (request: Request, { env }: ApiContext) => app.fetch(request, env);
    const { origin } = ports.discovery;
    mountPages(app, { ports: ports.pages, dispatch, served, origin, limits, clock, logger });
  }
  mountDocuments(
    app,
    interfaces.map((one) => ({ ...one, document: openApiDocument(one) })),
    { ...ports, frame },
  );
  return app;
}

/** What stands around every page: it leads to what this server has. */
function frameIn(
  pages: PagePorts | null,
  { interfaces, served }: { readonly interfaces: readonly Places[]; readonly served: ReadonlySet<string> },
): PageFrame {
  const paths = pages === null ? [] : pagesOf(served);
  return frameOf({
    served: new Set([...paths, REFERENCE_OF_PROBLEMS]),
    document: interfaces[0]?.documentPath ?? REFERENCE_OF_PROBLEMS,
    scripts: pages?.scripts ?? "",
  });
}

const DOCUMENT = { "content-type": "application/json", "cache-control": "public, max-age=300" } as const;

function mountDocuments(
  app: Hono<ApiEnv>,
  served: readonly ServedDocument[],
  ports: InterfacePorts & { readonly frame: PageFrame },
): void {
  const { logger, discovery, frame } = ports;
  mountDiscovery(app, served, ports);
  mountMcp(app, { served, origin: discovery.origin, logger });
  for (const one of served) {
    const others = served.filter((other) => other !== one);
    mountPage(app, one.documentPath, staticDocument(JSON.stringify(one.document), DOCUMENT));
    mountPage(app, one.referencePath, staticPage(renderReference(one, others), frame));
  }
  if (!served.some((one) => one.referencePath === REFERENCE_OF_PROBLEMS)) {
    const [first] = served;
    mountPage(app, REFERENCE_OF_PROBLEMS, (context) =>
      answer(context, { status: 308, body: null, headers: { location: first?.referencePath ?? "/" } }),
    );
  }
  if (ports.metricsPage === "loopback") mountMetrics(app, ports);
}
