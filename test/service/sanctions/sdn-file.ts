/** A digital-currency id of a party of a test list. */
export type TestId = { readonly currency: string; readonly value: string };

export type TestParty = { readonly fixedRef: string; readonly ids: readonly TestId[] };

export type TestList = {
  readonly parties: readonly TestParty[];
  readonly edition?: readonly [year: string, month: string, day: string];
};

const TYPE_IDS: Readonly<Record<string, string>> = {
  XBT: "344",
  ETH: "345",
  XMR: "444",
  USDT: "887",
  ETC: "689",
  USDC: "998",
  ARB: "1007",
  BSC: "1008",
  TRX: "992",
};

/** A list in the structure of OFAC's sdn_advanced.xml, with its other content beside the digital currencies. */
export function sdnXml({ parties, edition = ["2026", "11", "20"] }: TestList): string {
  const [year, month, day] = edition;
  return `<?xml version="1.0" encoding="utf-8"?>
<Sanctions xmlns="https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/ADVANCED_XML" Version="3">
  <DateOfIssue CalendarTypeID="1"><Year>${year}</Year><Month>${month}</Month><Day>${day}</Day></DateOfIssue>
  <ReferenceValueSets>
    <AliasTypeValues><AliasType ID="1403">Name</AliasType></AliasTypeValues>
    <FeatureTypeValues>
      <FeatureType ID="8" FeatureTypeGroupID="1">Birthdate</FeatureType>
      <FeatureType ID="14" FeatureTypeGroupID="1">Website</FeatureType>
${Object.entries(TYPE_IDS)
  .map(
    ([symbol, id]) =>
      `      <FeatureType ID="${id}" FeatureTypeGroupID="1">Digital Currency Address - ${symbol}</FeatureType>`,
  )
  .join("\n")}
    </FeatureTypeValues>
    <PartySubTypeValues><PartySubType ID="4" PartyTypeID="1">Unknown</PartySubType></PartySubTypeValues>
  </ReferenceValueSets>
  <Locations><Location ID="23"><LocationCountry CountryID="11190" CountryRelevanceID="1533" /></Location></Locations>
  <IDRegDocuments />
  <DistinctParties>
${parties.map(partyXml).join("\n")}
  </DistinctParties>
  <ProfileRelationships />
  <SanctionsEntries>
${parties.map(({ fixedRef }) => `    <SanctionsEntry ID="${fixedRef}" ProfileID="${fixedRef}" ListID="1550" />`).join("\n")}
  </SanctionsEntries>
  <SanctionsEntryLinks />
</Sanctions>
`;
}

function partyXml({ fixedRef, ids }: TestParty): string {
  return `    <DistinctParty FixedRef="${fixedRef}">
      <Comment />
      <Profile ID="${fixedRef}" PartySubTypeID="4">
        <Identity ID="9${fixedRef}" FixedRef="${fixedRef}" Primary="true" False="false">
          <Alias FixedRef="${fixedRef}" AliasTypeID="1403" Primary="true" LowQuality="false">
            <DocumentedName ID="1" FixedRef="${fixedRef}" DocNameStatusID="1">
              <DocumentedNamePart><NamePartValue NamePartGroupID="7" ScriptID="215">SMITH &amp; SONS</NamePartValue></DocumentedNamePart>
            </DocumentedName>
          </Alias>
        </Identity>
        <Feature ID="50" FeatureTypeID="14">
          <FeatureVersion ID="51" ReliabilityID="1560"><Comment /><VersionDetail DetailTypeID="1432">https://example.org/0x</VersionDetail></FeatureVersion>
        </Feature>
${ids.map(featureXml).join("\n")}
      </Profile>
    </DistinctParty>`;
}

function featureXml({ currency, value }: TestId, position: number): string {
  return `        <Feature ID="${100 + position}" FeatureTypeID="${TYPE_IDS[currency] ?? currency}">
          <FeatureVersion ID="${200 + position}" ReliabilityID="1560">
            <Comment />
            <VersionDetail DetailTypeID="1432">${value}</VersionDetail>
          </FeatureVersion>
          <IdentityReference IdentityID="9" IdentityFeatureLinkTypeID="1" />
        </Feature>`;
}

/** An EVM address by number, lower-case. */
export function evmAddress(number: number): `0x${string}` {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

/** Text as chunks of bytes. */
export async function* bytesOf(text: string | Uint8Array, size = 1_024): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}
