import type { ApiDocument, DescribedInterface } from "./openapi-document.ts";
/** Where an interface tells of itself. */
export type Places = {
  readonly documentPath: `/${string}`;
  readonly referencePath: `/${string}`;
};

/** An interface as the documents of those that are mounted tell of it. */
export type ServedDocument = Places &
  Pick<DescribedInterface, "title" | "purpose" | "advice"> & {
    readonly document: ApiDocument;
  };
