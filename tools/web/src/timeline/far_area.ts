/** For a served page: the sums of a marked area over the whole store. */
import { areaFrom, type Area, type AreaPart } from "./area";
import { Far } from "./far";

interface AreaAnswer {
  readonly next: number | null;
  /** Number of ranks that this part of the answer covers. */
  readonly seen: number;
  readonly names: readonly (readonly [id: number, text: string])[];
  readonly sums: readonly (readonly [rank: number, name: number, kind: number, count: number, total: number, self: number, most: number])[];
}

export interface FarParts {
  readonly seen: number;
  readonly parts: readonly AreaPart[];
}

export type FarArea = Far<AreaAnswer, FarParts>;

export function askArea(changed: () => void): FarArea {
  return new Far(
    "area",
    (before, { seen, names, sums }) => {
      const texts = new Map(names),
        textOf = (name: number): string => texts.get(name) ?? "",
        parts = sums.map(([rank, name, kind, count, total, self, most]) => ({ rank, name: textOf(name), kind, count, total, self, most }));
      return { seen: (before?.seen ?? 0) + seen, parts: [...(before?.parts ?? []), ...parts] };
    },
    changed,
  );
}

let last: { readonly of: FarParts; readonly area: Area } | null = null;

/** Builds the area from the parts of an answer. Keeps the result until it gets other parts. */
export function areaOfParts(of: FarParts, ranks: readonly number[], classOf: (name: string) => string | undefined): Area {
  if (last?.of !== of) last = { of, area: areaFrom(of.parts, ranks, classOf) };
  return last.area;
}
