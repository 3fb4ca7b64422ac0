import type { Address } from "viem";
import type { ListedAddress } from "./list-hash.ts";
import { readXml } from "./read-xml.ts";
import { RefusedList } from "./refused-list.ts";

/** A digital-currency id that should be an EVM address and is none. */
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
  await readXml(bytes, elementEvents(elementsOf(found)));
  requireReferenceSets(found);
  return {
    edition: editionOf(found.date),
    entries: [...found.references]
      .map(([address, reference]) => ({ address, reference }))
      .toSorted((a, b) => (a.address < b.address ? -1 : 1)),
    parties: found.parties,
    otherIds: found.otherIds,
    malformedCount: found.malformedCount,
    malformed: found.malformed,
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

type Attributes = Readonly<Record<string, string>>;

/** Called with the path of an element when it begins, and with its own text when it ends. */
type Elements = {
  readonly begin: (path: string, attributes: Attributes) => void;
  /** Whether the text of the element that has just begun is wanted. */
  readonly wants: (path: string) => boolean;
  readonly end: (path: string, text: string) => void;
};

function elementEvents({ begin, wants, end }: Elements) {
  const paths: string[] = [];
  let text: string | null = null;
  return {
    open(name: string, attributes: Attributes): void {
      // Its text would be read in part, and an address in it not at all.
      if (text !== null) throw new RefusedList(`there is an element in the text of ${paths.at(-1)}`);
      const parent = paths.at(-1);
      const path = parent === undefined ? name : `${parent}/${name}`;
      if (parent === undefined && name !== "Sanctions")
        throw new RefusedList(`its root element is ${name.slice(0, 40)}, not Sanctions`);
      paths.push(path);
      begin(path, attributes);
      text = wants(path) ? "" : null;
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

function elementsOf(found: Found): Elements {
  let featureType = "";
  let party: string | undefined;
  let profile: string | undefined;
  return {
    begin(path, attributes) {
      if (path === FEATURE_TYPE) featureType = attributes.ID ?? "";
      else if (path === PARTY) {
        found.parties += 1;
        party = attributes.FixedRef;
        requireReferenceSets(found);
      } else if (path === PROFILE) profile = attributes.ID;
      else if (path === FEATURE) featureType = attributes.FeatureTypeID ?? "";
    },
    wants: (path) =>
      path === FEATURE_TYPE ||
      path.startsWith(DATE) ||
      // Of an unknown type as well: an address there must not be passed over.
      (path === DETAIL && found.currencies.get(featureType) !== null),
    end(path, text) {
      if (path === FEATURE_TYPE) addFeatureType(found, featureType, text);
      else if (path === DETAIL) addId(found, { value: text, featureType, reference: party ?? profile });
      else found.date.set(path.slice(DATE.length), text);
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

type Id = {
  readonly value: string;
  readonly featureType: string;
  readonly reference: string | undefined;
};

function addId(found: Found, { value, featureType, reference }: Id): void {
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

/** What a terminal may be shown of a stranger's text. */
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
