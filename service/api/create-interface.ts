import { Hono } from "hono";
import type { Registry } from "prom-client";
import { Problem } from "../access/problems.ts";
import type { IpLimit } from "../access/rate-limits.ts";
import { answer, staticDocument } from "./kit/answer.ts";
import type { ApiContext, ApiEnv } from "./kit/api-env.ts";
import { catalogOf } from "./kit/catalog.ts";
import { createRequestLimits } from "./kit/deadline.ts";
import { type Discovery, mountDiscovery, type PublicKeys } from "./kit/discovery.ts";
import type { Endpoint, NeedsOf } from "./kit/endpoint.ts";
import type { KitServices } from "./kit/endpoint-spec.ts";
import { createEnvelope } from "./kit/envelope.ts";
import { answerProblem, createErrorHandler } from "./kit/handle-error.ts";
import { mountMcp } from "./kit/mcp.ts";
import { createRequestMetrics, mountMetrics } from "./kit/metrics.ts";
import { mountEndpoints, mountPage } from "./kit/mount-endpoints.ts";
import {
  type DescribedInterface,
  memberOf,
  openApiDocument,
  operationsOf,
  type Places,
  type ServedDocument,
} from "./kit/openapi-document.ts";
import type { ServerLife } from "./kit/server-life.ts";
import { mountAssets } from "./pages/assets.ts";
import { frameOf, type PageFrame } from "./pages/frame.ts";
import { answerProblemPage, mountPages, mountSharedPages, pagesOf, wantsPage } from "./pages/mount-pages.ts";
import { staticPage } from "./pages/page.ts";
import type { PagePorts } from "./pages/page-ports.ts";
import { problemsPage } from "./pages/problems-page.ts";
import { renderReference } from "./pages/reference.ts";
import { getLivez } from "./routes/get-livez.ts";
import { getReadyz } from "./routes/get-readyz.ts";

/** Services of a server, beside those that its endpoints name. */
export type ServerServices = KitServices &
  NeedsOf<typeof OWN_ENDPOINTS> & {
    /** A new id for requests without one. */
    readonly randomId: () => string;
    /** Registry of the request metrics, printed by /metrics; it must not contain them already. */
    readonly registry: Registry;
    /** loopback: this port serves /metrics to local callers. elsewhere: another port does. */
    readonly metricsPage: "loopback" | "elsewhere";
    /** Origins whose pages may read answers. */
    readonly allowedOrigins: readonly string[] | "*";
    readonly life: ServerLife;
    readonly ipLimit: IpLimit;
    /** Address of the socket of a request; null for requests made in process. */
    readonly socketAddress: (context: ApiContext) => string | null;
    /** Milliseconds that preparing and doing the work of a request may take together. */
    readonly deadlineMs: number;
    readonly discovery: Discovery;
    readonly publicKeys: PublicKeys;
  };

/** Services of endpoints and pages. */
export type ServedParts<Needs> = ServerServices &
  Needs & {
    /** Null for a server without pages. */
    readonly pages: PagePorts | null;
  };

/** Endpoints of the process, whatever its interfaces are. */
const OWN_ENDPOINTS = [getLivez, getReadyz];

/** An interface that can be mounted, alone or with others. */
export type ApiInterface<Needs> = Omit<DescribedInterface, "endpoints"> &
  Places & { readonly endpoints: readonly Endpoint<Needs>[] };

/** The page that explains problems. */
const REFERENCE_OF_PROBLEMS = "/docs";

/** A Hono app that serves one or several interfaces on one port, with shared documents. */
export function createInterfaceApp<Needs>(
  ports: ServedParts<Needs>,
  interfaces: readonly ApiInterface<NoInfer<Needs>>[],
): Hono<ApiEnv> {
  const { clock, logger, registry } = ports;
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
  const endpoints = [...new Set([...interfaces.flatMap((one) => one.endpoints), ...OWN_ENDPOINTS])];
  const served = new Set(endpoints.map(({ path }) => path));
  const { origin, securityContact } = ports.discovery;
  const frame = frameIn(ports.pages, { interfaces, served, origin, securityContact });
  app.use(async (context, next) => {
    context.set("frame", frame);
    await next();
  });
  const server = { origin, contact: securityContact };
  const documents = interfaces.map((one) => ({ ...one, document: openApiDocument(one, server) }));
  const dispatch = async (request: Request, { env }: ApiContext) => app.fetch(request, env);
  const shown = { dispatch, served, samples: samplesOf(documents), origin, limits, clock, logger };
  const pages = ports.pages === null ? null : { ...shown, ports: ports.pages };
  if (pages !== null) mountSharedPages(app, pages);
  mountEndpoints(app, endpoints, { deps: ports, limits, catalog: catalogOf(documents) });
  mountAssets(app, { loaded: ports.pages?.assets ?? [], origin });
  if (pages !== null) mountPages(app, pages);
  mountDocuments(app, documents, { ...ports, frame });
  return app;
}

/** The example answer of each operation, by its method and path, as in the document: "GET /risk/{address}". */
function samplesOf(documents: readonly ServedDocument[]): ReadonlyMap<string, unknown> {
  const operations = documents.flatMap(({ document }) => operationsOf(document));
  return new Map(
    operations.map(({ method, path, operation }) => {
      const content = memberOf(memberOf(operation.responses?.["200"], "content"), "application/json");
      return [`${method} ${path}`, memberOf(content, "example")];
    }),
  );
}

/** The frame of every page, which links to the pages of this server. */
function frameIn(
  pages: PagePorts | null,
  {
    interfaces,
    served,
    origin,
    securityContact,
  }: {
    readonly interfaces: readonly Places[];
    readonly served: ReadonlySet<string>;
    readonly origin: string;
    readonly securityContact: string | null;
  },
): PageFrame {
  const paths = pages === null ? [] : pagesOf(served);
  return frameOf({
    served: new Set([...paths, REFERENCE_OF_PROBLEMS]),
    document: interfaces[0]?.documentPath ?? REFERENCE_OF_PROBLEMS,
    scripts: pages?.scripts ?? "",
    origin,
    securityContact,
  });
}

const DOCUMENT = { "content-type": "application/json", "cache-control": "public, max-age=300" } as const;

function mountDocuments(
  app: Hono<ApiEnv>,
  served: readonly ServedDocument[],
  ports: ServedParts<unknown> & { readonly frame: PageFrame },
): void {
  const { discovery, frame } = ports;
  mountDiscovery(app, served, ports);
  mountMcp(app, { ...ports, served, origin: discovery.origin });
  for (const one of served) {
    const others = served.filter((other) => other !== one);
    mountPage(app, one.documentPath, staticDocument(JSON.stringify(one.document), DOCUMENT));
    const reference = renderReference(one, others, ports.pages?.viewer ?? null);
    mountPage(app, one.referencePath, staticPage(reference, frame, "reference"));
  }
  mountPage(app, "/docs/problems", staticPage(problemsPage(), frame, "page"));
  if (!served.some((one) => one.referencePath === REFERENCE_OF_PROBLEMS)) {
    const [first] = served;
    mountPage(app, REFERENCE_OF_PROBLEMS, (context) =>
      answer(context, { status: 308, body: null, headers: { location: first?.referencePath ?? "/" } }),
    );
  }
  if (ports.metricsPage === "loopback") mountMetrics(app, ports);
}
