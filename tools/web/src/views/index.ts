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
import { stacks } from "./stacks";
import { steps } from "./steps";
import { stragglers } from "./stragglers";
import { summary } from "./summary";
import { tables } from "./tables";
import { transfers } from "./transfers";
import { whatif } from "./whatif";
import { xla } from "./xla";
import { timeline } from "../timeline";
import type { View } from "../view";

export const reportViews: readonly View[] = [
  summary,
  hang,
  ranks,
  steps,
  stragglers,
  whatif,
  communication,
  pipelines,
  timeline,
  operators,
  kernels,
  efficiency,
  xla,
  stacks,
  memory,
  input,
  idle,
  launches,
  transfers,
  clocks,
  tables,
  about,
];
