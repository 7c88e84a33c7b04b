/** Names of tables and columns as the program defines them: the build writes "definitions", and any other name is a
 * compile error. Types only; none of this is in the page. */
import type { Tables } from "definitions";

export type TableName = keyof Tables;

/** The columns of a table; for a union of tables, those of any of them. */
export type ColumnOf<N extends TableName> = Tables[N];

/** A table and one of its columns. */
export type Place = { [N in TableName]: { readonly table: N; readonly column: ColumnOf<N> } }[TableName];

/** A table and column as one name: "overlap.rank.comm_ns". */
export type PlaceName = { [N in TableName]: `${N}.${ColumnOf<N>}` }[TableName];

/** A sort order: a column, "-name" for largest first, or "" for the table's own order. */
export type Sort<N extends TableName> = ColumnOf<N> | `-${ColumnOf<N>}` | "";
