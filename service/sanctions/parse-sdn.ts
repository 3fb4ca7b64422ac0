import { TextDecoder } from "node:util";
import { SaxesParser } from "saxes";
import type { Address } from "viem";
import { type ListedAddress, RefusedList } from "./list-file.ts";

/** A digital-currency id that should be an EVM address and is not. */
type MalformedAddress = {
  /** At most 100 printable characters. */
  readonly value: string;
  readonly currency: string;
  readonly reference: string;
};

/** The digital-currency part of one edition of the SDN list. */
export type SdnList = {
  /** Its date of issue, as YYYY-MM-DD. */
  readonly edition: string;
  /** By rising address, each once; the reference is the OFAC unique id of the party, the lowest where several have it. */
  readonly entries: readonly ListedAddress[];
  readonly parties: number;
  /** Digital-currency ids of other kinds of chains. */
  readonly otherIds: number;
  readonly malformedCount: number;
  /** The first of them. */
  readonly malformed: readonly MalformedAddress[];
};

/** OFAC FAQ 563: "Digital Currency Address", a dash and the currency's symbol. */
const CURRENCY_TYPE = /^\s*Digital Currency Address\s*-\s*(\S{1,20})/i;
const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;
/** Whose ids can be nothing but EVM addresses; tokens are on other chains too. */
const EVM_CURRENCIES = new Set(["ETH", "ETC", "ARB", "BSC"]);
const REFERENCE = /^\d{1,12}$/;
const MALFORMED_SHOWN = 20;
const VALUE_SHOWN = 100;
/** A hundred times what the whole list has of all currencies. */
const MAX_ENTRIES = 100_000;
/** The kinds of features that the list may define; it has under a hundred. */
const MAX_FEATURE_TYPES = 10_000;

const FEATURE_TYPE = "Sanctions/ReferenceValueSets/FeatureTypeValues/FeatureType";
const DATE = "Sanctions/DateOfIssue/";
const PARTY = "Sanctions/DistinctParties/DistinctParty";
const PROFILE = `${PARTY}/Profile`;
const FEATURE = `${PROFILE}/Feature`;
const DETAIL = `${FEATURE}/FeatureVersion/VersionDetail`;

/**
 * Reads OFAC's sdn_advanced.xml (Advanced Sanctions Data Model) as a stream and keeps its EVM addresses, whatever currency
 * names them. Throws a RefusedList for anything that is not the whole list: broken or truncated XML, another root, no date
 * of issue, no reference value sets, an address of an unknown feature type or of no party.
 */
export async function parseSdn(bytes: AsyncIterable<Uint8Array>): Promise<SdnList> {
  const found: Found = {
    date: new Map(),
    currencies: new Map(),
    references: new Map(),
    parties: 0,
    otherIds: 0,
    malformedCount: 0,
    malformed: [],
  };
  await readXml(bytes, eventsOf(found));
  requireReferenceSets(found);
  const { date, currencies, references, ...counted } = found;
  const entries = [...references].map(([address, reference]) => ({ address, reference }));
  return {
    edition: editionOf(date),
    entries: entries.toSorted((a, b) => (a.address < b.address ? -1 : 1)),
    ...counted,
  };
}

type Found = {
  readonly date: Map<string, string>;
  /** Symbol by feature type id; null for features that are no digital currency. */
  readonly currencies: Map<string, string | null>;
  readonly references: Map<Address, string>;
  parties: number;
  otherIds: number;
  malformedCount: number;
  readonly malformed: MalformedAddress[];
};

/** Finds in a document's events what is listed; names and texts of other elements pass by. */
function eventsOf(found: Found) {
  const paths: string[] = [];
  let text: string | null = null;
  let featureType = "";
  let party: string | undefined;
  let profile: string | undefined;
  const begin = (path: string, attributes: Readonly<Record<string, string>>): void => {
    if (path === FEATURE_TYPE) featureType = attributes.ID ?? "";
    else if (path === PARTY) {
      found.parties += 1;
      party = attributes.FixedRef;
      requireReferenceSets(found);
    } else if (path === PROFILE) profile = attributes.ID;
    else if (path === FEATURE) featureType = attributes.FeatureTypeID ?? "";
  };
  const wantsText = (path: string): boolean =>
    path === FEATURE_TYPE ||
    path.startsWith(DATE) ||
    // Of an unknown type as well: an address there must not be passed over.
    (path === DETAIL && found.currencies.get(featureType) !== null);
  const end = (path: string, value: string): void => {
    if (path === FEATURE_TYPE) addFeatureType(found, featureType, value);
    else if (path === DETAIL) addId(found, { value, featureType, reference: party ?? profile });
    else found.date.set(path.slice(DATE.length), value);
  };
  return {
    open(name: string, attributes: Readonly<Record<string, string>>): void {
      // Its text would be read in part, and an address in it not at all.
      if (text !== null) throw new RefusedList(`there is an element in the text of ${paths.at(-1)}`);
      const parent = paths.at(-1);
      const path = parent === undefined ? name : `${parent}/${name}`;
      if (parent === undefined && name !== "Sanctions")
        throw new RefusedList(`its root element is ${name.slice(0, 40)}, not Sanctions`);
      paths.push(path);
      begin(path, attributes);
      text = wantsText(path) ? "" : null;
    },
    text(more: string): void {
      if (text !== null) text += more;
    },
    close(): void {
      const path = paths.pop();
      if (path !== undefined && text !== null) end(path, text.trim());
      text = null;
    },
  };
}

function addFeatureType({ currencies }: Found, id: string, name: string): void {
  if (id === "" || currencies.size >= MAX_FEATURE_TYPES)
    throw new RefusedList("its feature types have no id, or are too many");
  currencies.set(id, CURRENCY_TYPE.exec(name)?.[1]?.toUpperCase() ?? null);
}

/** The values are defined before what refers to them. */
function requireReferenceSets({ currencies }: Found): void {
  const hasCurrencies = [...currencies.values()].some((currency) => currency !== null);
  if (!hasCurrencies)
    throw new RefusedList("its reference value sets, which name the digital currencies, are not there");
}

function addId(
  found: Found,
  { value, featureType, reference }: { value: string; featureType: string; reference: string | undefined },
): void {
  const currency = found.currencies.get(featureType);
  const isAddress = EVM_ADDRESS.test(value);
  if (typeof currency !== "string") {
    if (!isAddress) return;
    throw new RefusedList(
      `${value} is of the feature type "${printable(featureType)}", which it does not define`,
    );
  }
  if (!isAddress) {
    countOther(found, { value, currency, reference: reference ?? "?" });
    return;
  }
  if (reference === undefined || !REFERENCE.test(reference))
    throw new RefusedList(`${value} is of a party without an OFAC unique id`);
  const address = value.toLowerCase() as Address;
  const known = found.references.get(address);
  if (known === undefined || Number(reference) < Number(known)) found.references.set(address, reference);
  if (found.references.size > MAX_ENTRIES) throw new RefusedList(`it has more than ${MAX_ENTRIES} addresses`);
}

function countOther(found: Found, { value, currency, reference }: MalformedAddress): void {
  if (!EVM_CURRENCIES.has(currency) && !/^0x/i.test(value)) {
    found.otherIds += 1;
    return;
  }
  found.malformedCount += 1;
  if (found.malformed.length < MALFORMED_SHOWN)
    found.malformed.push({
      value: printable(value),
      currency: printable(currency),
      reference: printable(reference),
    });
}

/** Returns the part of a third party's text that a terminal may show. */
function printable(text: string): string {
  return text.slice(0, VALUE_SHOWN).replace(/[^\x20-\x7e]/g, "?");
}

function editionOf(date: ReadonlyMap<string, string>): string {
  const parts = ["Year", "Month", "Day"].map((part) => date.get(part) ?? "");
  const [year = "", month = "", day = ""] = parts;
  const edition = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const time = /^\d{4}-\d{2}-\d{2}$/.test(edition) ? Date.parse(`${edition}T00:00:00Z`) : Number.NaN;
  // A day that its month does not have would be read as one of the next.
  if (!Number.isFinite(time) || !new Date(time).toISOString().startsWith(edition))
    throw new RefusedList("its date of issue is not there, or no date");
  return edition;
}

/** Far above what a list has: it nests about 10 deep with about 10 attributes at most, and its longest text is a remark. */
const MAX_DEPTH = 64;
const MAX_ATTRIBUTES = 64;
const MAX_NAME_CHARACTERS = 256;
const MAX_TOKEN_CHARACTERS = 1 << 20;

/**
 * Reads a UTF-8 XML document piece by piece, names without their namespace prefix, holding no more than the open elements and one token of at most 1 MiB. Throws a
 * RefusedList when it is not well-formed, ends too early, declares a document type (the only way to define entities), or is
 * out of all proportion; and whatever the bytes or the events throw.
 */
async function readXml(bytes: AsyncIterable<Uint8Array>, events: ReturnType<typeof eventsOf>): Promise<void> {
  const reader = boundedParser(events);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of bytes) reader.write(decode(decoder, chunk));
  reader.write(decode(decoder, null));
  reader.close();
}

function decode(decoder: TextDecoder, chunk: Uint8Array | null): string {
  try {
    return chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (cause) {
    throw new RefusedList("it is not UTF-8 text", { cause });
  }
}

function boundedParser(events: ReturnType<typeof eventsOf>) {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  let depth = 0;
  let attributes = 0;
  /** Characters since something was complete. */
  let pending = 0;
  const progress = () => {
    pending = 0;
  };
  parser.on("error", (fault) => {
    throw new RefusedList(`it is not well-formed XML, or not whole: ${fault.message.slice(0, 200)}`);
  });
  parser.on("xmldecl", ({ encoding }) => {
    if (encoding !== undefined && !/^utf-8$/i.test(encoding))
      throw new RefusedList(`its encoding is ${encoding.slice(0, 20)}, not UTF-8`);
  });
  parser.on("doctype", () => {
    throw new RefusedList("it declares a document type, which no such list does");
  });
  parser.on("opentagstart", ({ name }) => {
    progress();
    if (name.length > MAX_NAME_CHARACTERS)
      throw new RefusedList(`an element's name is longer than ${MAX_NAME_CHARACTERS} characters`);
    attributes = 0;
    depth += 1;
    if (depth > MAX_DEPTH) throw new RefusedList(`its elements are nested deeper than ${MAX_DEPTH}`);
  });
  parser.on("attribute", () => {
    progress();
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES)
      throw new RefusedList(`an element has more than ${MAX_ATTRIBUTES} attributes`);
  });
  parser.on("opentag", (tag) => {
    progress();
    events.open(localName(tag.name), tag.attributes);
  });
  parser.on("closetag", () => {
    progress();
    depth -= 1;
    events.close();
  });
  parser.on("text", events.text);
  parser.on("cdata", (text) => {
    progress();
    events.text(text);
  });
  parser.on("comment", progress);
  parser.on("processinginstruction", progress);
  return {
    write(text: string): void {
      pending += text.length;
      parser.write(text);
      if (pending > MAX_TOKEN_CHARACTERS)
        throw new RefusedList(`a name, value or text is longer than ${MAX_TOKEN_CHARACTERS} characters`);
    },
    close(): void {
      parser.close();
    },
  };
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}
