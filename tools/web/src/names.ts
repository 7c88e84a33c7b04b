/** The names of tables and columns, as the program defines them: the build writes "definitions", and
 * any other name is an error of the compiler. Types alone: nothing of this is in the page. */
import type { Tables } from "definitions";

export type TableName = keyof Tables;

/** The columns of a table; where it is one of several, those of any of them. */
export type ColumnOf<N extends TableName> = Tables[N];

/** A table and one of its columns. */
export type Place = { [N in TableName]: { readonly table: N; readonly column: ColumnOf<N> } }[TableName];

/** The same as one name: "overlap.rank.comm_ns". */
export type PlaceName = { [N in TableName]: `${N}.${ColumnOf<N>}` }[TableName];

/** An order of rows: by a column, "-name" for the largest first, or "" for the table's own. */
export type Sort<N extends TableName> = ColumnOf<N> | `-${ColumnOf<N>}` | "";
