/** The views of the report, in the order of the list. */
import { about } from "./about";
import { clocks } from "./clocks";
import { communication } from "./communication";
import { efficiency } from "./efficiency";
import { hang } from "./hang";
import { idle } from "./idle";
import { input } from "./input";
import { kernels } from "./kernels";
import { launches } from "./launches";
import { memory } from "./memory";
import { operators } from "./operators";
import { pipelines } from "./pipelines";
import { ranks } from "./ranks";
import { sql } from "./sql";
import { stacks } from "./stacks";
import { steps } from "./steps";
import { stragglers } from "./stragglers";
import { summary } from "./summary";
import { tables } from "./tables";
import { transfers } from "./transfers";
import { whatif } from "./whatif";
import { xla } from "./xla";
import { timeline } from "../timeline";
import type { Tab, View } from "../view";

const WHO = "Who?",
  WHERE = "Where does time go?",
  WHAT = "What runs?",
  HOW = "How was it recorded?";

export const reportTabs: readonly Tab[] = [
  { group: "", views: [summary] },
  { group: WHO, views: [hang, stragglers, ranks] },
  { group: WHO, views: [steps, input] },
  { group: WHO, views: [whatif] },
  { group: WHERE, views: [timeline] },
  { group: WHERE, views: [communication, pipelines] },
  { group: WHERE, views: [idle, launches] },
  { group: WHERE, views: [memory, transfers] },
  { group: WHAT, views: [operators, stacks] },
  { group: WHAT, views: [kernels, efficiency] },
  { group: WHAT, views: [xla] },
  { group: HOW, views: [about, clocks] },
  { group: HOW, views: [tables, sql] },
];

export const hangTabs: readonly Tab[] = [
  { group: "", views: [hang] },
  { group: "", views: [tables] },
];

export const reportViews: readonly View[] = reportTabs.flatMap(({ views }) => views);
