/** Starts the page. */
import { App } from "./app";
import { Job } from "./data";
import { callDevices } from "./dom";
import { deviceWord } from "./job";
import { reportTabs } from "./views";
import { diffTabs } from "./views/diff";

const tables = document.getElementById("tables");
document.querySelector(".unopened")?.remove();
if (tables) {
  const job = new Job(tables.textContent);
  callDevices(deviceWord(job));
  new App(job, job.kind === "diff" ? diffTabs : reportTabs).start();
}
