/** The views of a comparison, in the order of the list. */
import { about } from "./about";
import { kernels, operators } from "./names";
import { roles } from "./roles";
import { steps } from "./steps";
import { summary } from "./summary";
import { tables } from "../tables";
import type { Tab } from "../../view";

export const diffTabs: readonly Tab[] = [
  { group: "", views: [summary] },
  { group: "", views: [steps] },
  { group: "", views: [roles] },
  { group: "", views: [kernels] },
  { group: "", views: [operators] },
  { group: "The data", views: [tables] },
  { group: "The data", views: [about] },
];
