import { html } from "hono/html";
import type { Address } from "viem";
import { Problem, unavailable } from "../../access/problems.ts";
import { gradeLabel } from "../../model/score/record.ts";
import type { GradeChange } from "../../scores/ecosystem.sql.ts";
import { shownScore } from "../../scores/stored-score.ts";
import { answer } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { viewOf } from "../report-card/card-view.ts";
import { drawableText } from "../report-card/drawable-text.ts";
import { CardsOverloaded } from "../report-card/render-pool.ts";
import { reportCardSchema } from "../routes/get-report-card-schema.ts";
import { addressSchema, toEip55 } from "../schemas/values.ts";
import type { Page, PageRuntime } from "./page.ts";
import { chainWords, shortHex } from "./page-words.ts";
import { readHead, shownName } from "./wallet-head.ts";

const NEEDS = "/ahs/{address}";
const MINUTES = { "cache-control": "public, max-age=300" } as const;
const HOUR = { "cache-control": "public, max-age=3600" } as const;

/** GET /badge/{file}: the score of a wallet as a small picture for its own site, by ADDRESS.svg. */
const badge: Page = {
  path: "/badge/{file}",
  needs: NEEDS,
  async get(context, runtime) {
    const reading = await readScore(walletIn(context, ".svg"), runtime);
    return answerFile(context, {
      body: drawBadge(reading),
      headers: {
        "content-type": "image/svg+xml",
        ...MINUTES,
        "cross-origin-resource-policy": "cross-origin",
      },
    });
  },
};

/** GET /og/{file}: the picture of a wallet's link preview, by ADDRESS.png. */
const preview: Page = {
  path: "/og/{file}",
  needs: NEEDS,
  async get(context, runtime) {
    const wallet = walletIn(context, ".png");
    const [{ score, grade, label }, { agents }] = await Promise.all([
      readScore(wallet, runtime),
      readHead(wallet, runtime),
    ]);
    const name = drawableText(shownName(agents.cards[0]) ?? "");
    const address = shortHex(toEip55(wallet));
    const where = `on ${chainWords(runtime.ports.chain.name)}`;
    return answerPicture(context, runtime, {
      title: name === "" ? `Wallet ${address}` : name,
      subtitle: name === "" ? `Agent wallet ${where}` : `${address} ${where}. Name not verified.`,
      reading: { score, grade, label },
    });
  },
};

/** GET /og.png: the picture of every other page's link preview. */
const ownPreview: Page = {
  path: "/og.png",
  get: (context, runtime) =>
    answerPicture(context, runtime, {
      title: "Know an agent before you pay it",
      subtitle: "Scores of autonomous agents' wallets, from what they did on chain.",
      reading: null,
    }),
};

/** GET /sample/report-card.png: the example of the documentation as a picture. */
const sampleCard: Page = {
  path: "/sample/report-card.png",
  needs: "/report-card/{address}",
  async get(context, runtime) {
    const example = reportCardSchema.parse(runtime.samples.get("GET /report-card/{address}"));
    return answerPicture(context, runtime, viewOf(example, runtime.origin));
  },
};

/** GET /feed.xml: the newest changes of grade as an Atom feed (RFC 4287). */
const feed: Page = {
  path: "/feed.xml",
  needs: NEEDS,
  async get(context, { ports, origin, clock }) {
    const changes = await ports.gradeChanges();
    const updated = (changes[0]?.at ?? clock.now()).toISOString();
    const body = String(html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>Agent Health: changes of grade</title><id>${origin}/feed.xml</id><link rel="self" href="${origin}/feed.xml"/><link href="${origin}/"/><author><name>Agent Health</name></author><updated>${updated}</updated>
${changes.map((change) => renderEntry(change, origin))}</feed>
`);
    return answerFile(context, {
      body,
      headers: { "content-type": "application/atom+xml; charset=utf-8", ...MINUTES },
    });
  },
};

function renderEntry({ wallet, from, to, at, transactionHash }: GradeChange, origin: string) {
  const address = toEip55(wallet);
  const words = `${from ?? "no grade"} to ${to ?? "no grade"}`;
  return html`<entry><title>${shortHex(address)}: ${words}</title><id>${origin}/wallet/${address}#${transactionHash}</id><link href="${origin}/wallet/${address}"/><updated>${at.toISOString()}</updated><summary>The grade of ${address} changed from ${words}, published in transaction ${transactionHash}.</summary></entry>
`;
}

/** Wallets of the sitemap: the best ones. */
const MOST_LISTED = 1_000;

/** GET /sitemap.xml: the public pages for search engines. */
const sitemap: Page = {
  path: "/sitemap.xml",
  needs: NEEDS,
  async get(context, { ports, origin }) {
    const wallets = await ports.leaderboard.list({
      scope: { kind: "scored", from: 0, to: 100 },
      confidence: null,
      order: "score",
      isRising: false,
      offset: 0,
      limit: MOST_LISTED,
    });
    const paths = [
      "/",
      "/leaderboard",
      "/compare",
      "/status",
      "/docs",
      ...wallets.map(({ wallet }) => `/wallet/${toEip55(wallet)}`),
    ];
    const body = String(html`<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${paths.map((path) => html`<url><loc>${origin}${path}</loc></url>`)}</urlset>
`);
    return answerFile(context, {
      body,
      headers: { "content-type": "application/xml; charset=utf-8", ...HOUR },
    });
  },
};

/** Files that other sites and programs read. */
export const PUBLIC_FILES: readonly Page[] = [badge, preview, ownPreview, sampleCard, feed, sitemap];

function walletIn(context: ApiContext, ending: ".svg" | ".png"): Address {
  const file = context.req.param("file") ?? "";
  const parsed = addressSchema.safeParse(file.endsWith(ending) ? file.slice(0, -ending.length) : "");
  if (parsed.success) return parsed.data;
  throw new Problem("not-found", `Expected the address of a wallet and ${ending}.`);
}

async function readScore(wallet: Address, { ports }: PageRuntime) {
  const { score, sanctions } = await ports.wallets.snapshot(wallet);
  const shown = shownScore(score, sanctions.length > 0);
  const isSanctioned = sanctions.length > 0;
  const label = isSanctioned ? "Sanctioned" : shown.grade === null ? "No score" : gradeLabel(shown.grade);
  return { score: shown.ahsScore, grade: shown.grade, label };
}

type Reading = Awaited<ReturnType<typeof readScore>>;

const COLOURS = {
  A: "#0a6e40",
  B: "#4a6b00",
  C: "#7d5800",
  D: "#a04700",
  E: "#b43310",
  F: "#ac1030",
} as const;
/** Width of a letter of 11 px Verdana, on average. */
const LETTER = 6.8;

function drawBadge({ score, grade, label }: Reading): string {
  const left = "agent health";
  const right = score === null || grade === null ? label.toLowerCase() : `${grade} ${score}`;
  const [a, b] = [left, right].map((text) => Math.round(text.length * LETTER) + 14) as [number, number];
  return String(html`<svg xmlns="http://www.w3.org/2000/svg" width="${a + b}" height="20" role="img" aria-label="${left}: ${right}"><title>${left}: ${right}</title><clipPath id="r"><rect width="${a + b}" height="20" rx="3"/></clipPath><g clip-path="url(#r)"><rect width="${a}" height="20" fill="#3d4359"/><rect x="${a}" width="${b}" height="20" fill="${grade === null ? "#505a77" : COLOURS[grade]}"/></g><g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11"><text x="${a / 2}" y="14">${left}</text><text x="${a + b / 2}" y="14">${right}</text></g></svg>
`);
}

async function answerPicture(
  context: ApiContext,
  { ports }: PageRuntime,
  view: Parameters<PageRuntime["ports"]["drawPreview"]>[0],
): Promise<Response> {
  try {
    const body = await ports.drawPreview(view);
    return answer(context, { status: 200, body, headers: { "content-type": "image/png", ...HOUR } });
  } catch (error) {
    if (!(error instanceof CardsOverloaded)) throw error;
    throw unavailable("deadline-exceeded", "Too many pictures wait to be drawn.", {
      retryAfterSeconds: 5,
      cause: error,
    });
  }
}

function answerFile(
  context: ApiContext,
  { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
): Response {
  return answer(context, { status: 200, body, headers });
}
