import { html } from "hono/html";
import type { Grade } from "../../../model/score/record.ts";
import { countOf, shortHex, strangeText } from "../page-words.ts";
import type { Fragment } from "../prose.ts";

export type GraphNode = {
  readonly address: string;
  /** Null without a name. */
  readonly name: string | null;
  readonly grade: Grade | null;
  readonly isFlagged: boolean;
  /** 0 is the wallet itself, in the centre. */
  readonly hops: number;
};

export type GraphEdge = {
  /** Addresses of nodes. */
  readonly from: string;
  readonly to: string;
  /** Of 0 to 1, for the width of the line. */
  readonly weight: number;
  readonly label: string;
};

const WIDTH = 720;
/** Heights and radii without and with accounts two hops away. */
const NEAR = { height: 420, rings: [0, 165, 0] } as const;
const FAR = { height: 560, rings: [0, 140, 245] } as const;
/** Names that fit around the inner ring. */
const MOST_NAMED = 18;
const NAME_CHARACTERS = 16;

/** Accounts around a wallet as circles on two rings, with a line for each link. Keyboards reach the same links in the table beside it. */
export function renderGraph({
  title,
  nodes,
  edges,
}: {
  readonly title: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}): Fragment {
  const frame = nodes.some(({ hops }) => hops > 1) ? FAR : NEAR;
  const places = placesOf(nodes, frame);
  const named = nodes.filter(({ hops }) => hops === 1).length <= MOST_NAMED;
  return html`<figure class="graph"><svg viewBox="0 0 ${WIDTH} ${frame.height}" role="group" aria-label="${title}: ${countOf(nodes.length - 1, "account")} and ${countOf(edges.length, "link")}">
<g>${edges.map((edge) => {
    const [from, to] = [places.get(edge.from), places.get(edge.to)];
    if (from === undefined || to === undefined) return "";
    return html`<line class="link" x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}" stroke-width="${tenths(1 + 4 * edge.weight)}"><title>${edge.label}</title></line>`;
  })}</g>
<g>${nodes.map((node) => renderNode(node, places.get(node.address), named))}</g>
</svg><figcaption class="quiet small">Colours are grades, dashed circles have none; red rings mark listed accounts. Wider lines carry more. The table has the same data.</figcaption></figure>`;
}

type Place = { readonly x: number; readonly y: number; readonly angle: number };

function placesOf(
  nodes: readonly GraphNode[],
  { height, rings }: typeof NEAR | typeof FAR,
): ReadonlyMap<string, Place> {
  return new Map(
    rings.flatMap((radius, hops) => {
      const ring = nodes.filter((node) => Math.min(node.hops, rings.length - 1) === hops);
      return ring.map(({ address }, index) => {
        const angle = (2 * Math.PI * (index + hops / 2)) / Math.max(1, ring.length) - Math.PI / 2;
        // Wider than high, as the picture is.
        const place = {
          x: Math.round(WIDTH / 2 + 1.2 * radius * Math.cos(angle)),
          y: Math.round(height / 2 + radius * Math.sin(angle)),
          angle,
        };
        return [address, place] as const;
      });
    }),
  );
}

function renderNode(node: GraphNode, place: Place | undefined, isNamed: boolean): Fragment | string {
  if (place === undefined) return "";
  const { address, name, grade, isFlagged, hops } = node;
  const radius = hops === 0 ? 15 : hops === 1 ? 9 : 5;
  const words = name === null ? shortHex(address) : strangeText(name, NAME_CHARACTERS);
  const title = `${name === null ? "" : `${strangeText(name, 80)}, `}${address}${grade === null ? "" : `, grade ${grade}`}${isFlagged ? ", listed" : ""}`;
  const label =
    hops === 0 || (hops === 1 && isNamed)
      ? html`<text x="${place.x}" y="${hops === 0 || Math.sin(place.angle) > 0 ? place.y + radius + 14 : place.y - radius - 6}" text-anchor="middle">${hops === 0 ? "This wallet" : words}</text>`
      : "";
  return html`<a href="/wallet/${address}" tabindex="-1" aria-label="${title}"><circle class="node ${hops === 0 ? "node-own" : grade === null ? "node-none" : `in-${grade}`}${isFlagged ? " node-flagged" : ""}" cx="${place.x}" cy="${place.y}" r="${radius}"><title>${title}</title></circle></a>${label}`;
}

function tenths(value: number): number {
  return Math.round(10 * value) / 10;
}
