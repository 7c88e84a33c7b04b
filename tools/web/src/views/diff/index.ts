/** The views of a comparison, in the order of the list. */
import { about } from "./about";
import { kernels, operators } from "./names";
import { roles } from "./roles";
import { steps } from "./steps";
import { summary } from "./summary";
import { tables } from "../tables";
import type { View } from "../../view";

export const diffViews: readonly View[] = [summary, steps, roles, kernels, operators, tables, about];
